/**
 * Sends frames to the gateway through the socket's own queue. Large senders wait while that queue is long, and continue in their order, so
 * that one large answer does not hold up the others.
 */
import { MAX_FRAME_BYTES } from '../../../src/upstream/connector/frames.ts';

/** Most bytes in the socket's queue. */
export const MOST_QUEUED_BYTES = 8 * 1024 * 1024;
/** A WebSocket does not report when its queue shrinks, so it is polled this often while a sender waits, in milliseconds. */
const LOOK_EVERY_MS = 5;

/** The part of a WebSocket that is used. */
export interface Wire {
  readonly bufferedAmount: number;
  send(data: Uint8Array<ArrayBuffer> | string): void;
}

/** A frame waiting for its turn. */
interface Turn {
  data: Uint8Array<ArrayBuffer>;
  signal: AbortSignal;
  go(): void;
}

export class OutboundFetch {
  readonly #wire: Wire;
  readonly #waiting: Turn[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;
  #frames = 0;
  #bytes = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Frames queued so far. */
  get frames(): number {
    return this.#frames;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Queues a frame or a text; does nothing after `close`. */
  send(data: Uint8Array<ArrayBuffer> | string): void {
    if (!this.#isOpen) return;
    if (typeof data !== 'string') {
      this.#frames += 1;
      this.#bytes += data.length;
    }
    this.#wire.send(data);
  }

  /**
   * Queues a frame once there is room and earlier senders have had their turn. Resolves when it is queued, or dropped because the signal
   * aborted or this object was closed.
   */
  async sendInTurn(data: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    if (this.#isOpen && (this.#waiting.length > 0 || !this.#hasRoom())) {
      await new Promise<void>(go => {
        this.#waiting.push({ data, signal, go });
        this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY_MS);
      });
    } else if (!signal.aborted) {
      this.send(data);
    }
  }

  /** Sends nothing more; waiting senders continue. */
  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    for (const { go } of this.#waiting.splice(0)) go();
  }

  #hasRoom(): boolean {
    return this.#wire.bufferedAmount + MAX_FRAME_BYTES <= MOST_QUEUED_BYTES;
  }

  #look(): void {
    while (this.#hasRoom()) {
      const next = this.#waiting.shift();
      if (!next) break;
      if (!next.signal.aborted) this.send(next.data);
      next.go();
    }
    const again = () => setTimeout(() => this.#look(), LOOK_EVERY_MS);
    this.#timer = this.#waiting.length > 0 ? again() : undefined;
  }
}
