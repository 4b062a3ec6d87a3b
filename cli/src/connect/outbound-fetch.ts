/**
 * The way out to the gateway: frames go into the socket's own queue, and who has much to send waits while that is long.
 * Those who wait go on in their order, so that one big answer does not hold up the others.
 */
import { MAX_FRAME_BYTES } from '../../../src/upstream/connector/frames.ts';

/** Bytes that may wait in the socket's queue. */
export const MOST_QUEUED_BYTES = 8 * 1024 * 1024;
/** A WebSocket does not say when its queue got shorter; this is how often it is looked at while somebody waits. */
const LOOK_EVERY_MS = 5;

/** What of a WebSocket is used. */
export interface Wire {
  readonly bufferedAmount: number;
  send(data: Uint8Array<ArrayBuffer> | string): void;
}

/** A frame that waits for its turn. */
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

  /** Frames that were queued so far. */
  get frames(): number {
    return this.#frames;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Queue a frame or a text; after `close` nothing happens. */
  send(data: Uint8Array<ArrayBuffer> | string): void {
    if (!this.#isOpen) return;
    if (typeof data !== 'string') {
      this.#frames += 1;
      this.#bytes += data.length;
    }
    this.#wire.send(data);
  }

  /**
   * Queue a frame when there is room and those who came before have had their turn. Resolves when it was queued, or dropped
   * because the signal was aborted or the fetch is closed.
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

  /** Nothing is sent any more; who waits goes on. */
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
