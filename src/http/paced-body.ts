/**
 * Large response bodies, written as fast as the client takes them: cut into slices, each encoded on demand, so that a
 * slow client holds one text and no second copy of it. A client that takes nothing for a while is disconnected, because
 * what waits for it is in memory. Small bodies are written at once, which the platform does best.
 */
import { SMALL_BYTES } from '../shared/limits/bytes-in-flight.ts';

/** The owner of the bytes that a body is made of. */
export interface Holder {
  /** @returns to be called when the body has been written, or never will be */
  retain(): () => void;
  /** A client that takes nothing for this long is disconnected, in milliseconds. */
  readonly stalledMs: number;
}

/** Most characters of one slice. */
const SLICE = 65_536;
/** The same for bodies without a holder. */
const STALLED_MS = 30_000;

const encoder = new TextEncoder();

/** Yields the parts in slices of bytes, each encoded on demand; a small body is one slice. */
export function* slicesOf(parts: readonly string[]): Generator<Uint8Array, void, undefined> {
  if (sizeOf(parts) <= SLICE) {
    yield encoder.encode(parts.join(''));
    return;
  }
  for (const part of parts) {
    for (let from = 0; from < part.length;) {
      let to = Math.min(from + SLICE, part.length);
      // A surrogate pair is one character and must not be split.
      if (to < part.length && isHighSurrogate(part, to - 1)) to -= 1;
      yield encoder.encode(part.slice(from, to));
      from = to;
    }
  }
}

const sizeOf = (parts: readonly string[]) => parts.reduce((size, part) => size + part.length, 0);

const isHighSurrogate = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
};

/** Detects a client that stops taking data. Uses one timer at a time: setting and clearing one for each slice costs more than the slice. */
export class StallTimer {
  readonly #onStalled: () => void;
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** Since when data waits for the client; null if none does. */
  #waitsSince: number | null = null;

  constructor(holder: Holder | undefined, onStalled: () => void) {
    this.#onStalled = onStalled;
    this.#ms = holder?.stalledMs ?? STALLED_MS;
  }

  /** Data waits for the client from now on. */
  start(): void {
    this.#waitsSince = Date.now();
    this.#timer ??= setTimeout(() => this.#check(), this.#ms);
  }

  /** The client took the data. */
  pause(): void {
    this.#waitsSince = null;
  }

  /** Everything is written, or the client is gone. */
  stop(): void {
    this.#waitsSince = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #check(): void {
    this.#timer = null;
    if (this.#waitsSince === null) return;
    const left = this.#waitsSince + this.#ms - Date.now();
    if (left <= 0) this.#onStalled();
    else this.#timer = setTimeout(() => this.#check(), left);
  }
}

/** Returns a response of these parts; a large one is written at the client's pace. */
export function pacedResponse(
  parts: readonly string[],
  init: ResponseInit,
  holder?: Holder,
): Response {
  if (sizeOf(parts) <= SMALL_BYTES) return new Response(parts.join(''), init);
  return new Response(pacedBody(parts, holder), init);
}

function pacedBody(parts: readonly string[], holder?: Holder): ReadableStream<Uint8Array> {
  const release = holder?.retain() ?? (() => {});
  let slices: Iterator<Uint8Array, void> | undefined = slicesOf(parts);
  let out: ReadableStreamDefaultController<Uint8Array> | undefined;
  const end = () => {
    stall.stop();
    slices = undefined;
    release();
  };
  const stall = new StallTimer(holder, () => {
    end();
    out?.error(new Error('The client takes nothing'));
  });
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        out = controller;
      },
      pull(controller) {
        const step = slices?.next();
        if (!step || step.done) {
          end();
          controller.close();
          return;
        }
        controller.enqueue(step.value);
        stall.start();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
