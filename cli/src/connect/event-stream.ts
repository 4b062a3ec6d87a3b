/**
 * Bytes waiting for the reader of one answer: events of an event stream, or one JSON text. All answers of a server share a `Room`; while it
 * is full, the child's output is not read. A comment is sent after a long silence, so that a dead connection is noticed.
 */
import { toSseText } from '../../../src/http/sse-events.ts';
import type { Limits } from './limits.ts';

/** Most bytes given to a reader at once. */
const PIECE_BYTES = 65_536;

/** Counts the bytes of all answers that their readers have not finished with. */
export class Room {
  readonly #limits: Pick<Limits, 'answerBytes' | 'stallMs'>;
  readonly #streams = new Set<EventStream>();
  /** Streams of which nothing was read since the current wait began. */
  #stalled = new Set<EventStream>();
  #held = 0;
  #wake: (() => void) | undefined;

  constructor(limits: Pick<Limits, 'answerBytes' | 'stallMs'>) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#held > this.#limits.answerBytes;
  }

  /** Settles when there is room. If nothing is read for `stallMs`, the largest unread answer is dropped. */
  async wait(): Promise<void> {
    while (this.isFull) {
      this.#stalled = new Set(this.#streams);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(() => {
        this.#dropLargest();
        resolve();
      }, this.#limits.stallMs);
      await promise;
      clearTimeout(timer);
    }
  }

  hold(stream: EventStream, bytes: number): void {
    this.#held += bytes;
    this.#streams.add(stream);
  }

  release(stream: EventStream, bytes: number): void {
    this.#held -= bytes;
    this.#stalled.delete(stream);
    if (stream.held === 0) this.#streams.delete(stream);
    if (!this.isFull) this.#wake?.();
  }

  #dropLargest(): void {
    const [largest] = [...this.#stalled].toSorted((a, b) => b.held - a.held);
    largest?.drop();
  }
}

const KEEP_ALIVE = ': keep-alive\n\n';

export class EventStream implements AsyncIterable<Uint8Array> {
  readonly #room: Room;
  readonly #limits: Pick<Limits, 'keepAliveMs' | 'streamBytes'>;
  readonly #encoder = new TextEncoder();
  #queue: Uint8Array[] = [];
  #hasEnded = false;
  #wake: (() => void) | undefined;
  /** Bytes waiting for the reader. */
  held = 0;

  constructor(room: Room, limits: Pick<Limits, 'keepAliveMs' | 'streamBytes'>) {
    this.#room = room;
    this.#limits = limits;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Adds an event. @returns false where the reader is gone or too far behind */
  push(message: string): boolean {
    if (this.#hasEnded || this.held > this.#limits.streamBytes) return false;
    this.#put(toSseText(message));
    return true;
  }

  /** Adds the last event, for which there is always room, and ends the stream. */
  finish(message: string): void {
    if (!this.#hasEnded) this.#put(toSseText(message));
    this.end();
  }

  /** Adds a body that is plain text instead of an event, and ends the stream. */
  finishPlain(text: string): void {
    if (!this.#hasEnded) this.#put(text);
    this.end();
  }

  /** Ends the stream; what is queued is still read. */
  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  /** The reader is gone: drops what is queued. */
  drop(): void {
    const bytes = this.held;
    this.held = 0;
    this.#queue = [];
    this.end();
    this.#room.release(this, bytes);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const [chunk] = this.#queue;
        if (chunk) {
          yield* this.#pieces(chunk);
        } else if (this.#hasEnded) {
          return;
        } else if (!(await this.#somethingCame())) {
          yield this.#encoder.encode(KEEP_ALIVE);
        }
      }
    } finally {
      this.drop();
    }
  }

  /** Counts a piece as held until the reader asks for the next; stops once everything was dropped. */
  *#pieces(chunk: Uint8Array): Generator<Uint8Array, void, undefined> {
    for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
      const piece = chunk.subarray(from, from + PIECE_BYTES);
      yield piece;
      if (this.#queue[0] !== chunk) return;
      this.held -= piece.length;
      this.#room.release(this, piece.length);
    }
    this.#queue.shift();
  }

  #put(text: string): void {
    const bytes = this.#encoder.encode(text);
    this.#queue.push(bytes);
    this.held += bytes.length;
    this.#room.hold(this, bytes.length);
    this.#wake?.();
  }

  /** @returns false where nothing was added within `keepAliveMs` */
  #somethingCame(): Promise<boolean> {
    return new Promise(resolve => {
      const timer = setTimeout(() => resolve(false), this.#limits.keepAliveMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
