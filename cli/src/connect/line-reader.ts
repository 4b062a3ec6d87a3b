/** Splits a child's output into lines of bounded length, whatever their content. Pure. */

const LINE_FEED = 0x0a;

/** A line is longer than the limit. */
export class LineTooLong extends Error {}

/** Measures output that is not a protocol message: a stray line is ignored, a flood ends the child. Pure. */
export class GarbageMeter {
  readonly #maxBytes: number;
  readonly #windowMs: number;
  #since = 0;
  #bytes = 0;
  /** Lines so far. */
  lines = 0;

  constructor(maxBytes: number, windowMs: number) {
    this.#maxBytes = maxBytes;
    this.#windowMs = windowMs;
  }

  /** @returns whether there was too much within the window */
  add(bytes: number, now: number): boolean {
    if (now - this.#since >= this.#windowMs) {
      this.#since = now;
      this.#bytes = 0;
    }
    this.lines += 1;
    this.#bytes += bytes;
    return this.#bytes > this.#maxBytes;
  }
}

export class LineReader {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder('utf-8');
  #pending: Uint8Array[] = [];
  #size = 0;

  /** @param maxBytes of one line, without its line end */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Yields the lines that end in `chunk`, without line ends.
   * @throws LineTooLong
   */
  *push(chunk: Uint8Array): Generator<string, void, undefined> {
    let from = 0;
    for (;;) {
      // Only new bytes are searched, so that the cost of a long line in many pieces is linear in its length.
      const end = chunk.indexOf(LINE_FEED, from);
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      this.#size += piece.length;
      if (this.#size > this.#maxBytes) throw new LineTooLong();
      if (end === -1) {
        if (piece.length > 0) this.#pending.push(piece);
        return;
      }
      const line = this.#pending.length === 0 ? piece : Buffer.concat([...this.#pending, piece]);
      this.#pending = [];
      this.#size = 0;
      from = end + 1;
      yield this.#decoder.decode(line);
    }
  }
}
