/** Cuts the output of a child into lines and bounds them; knows nothing of what is in a line. Pure. */

const LINE_FEED = 0x0a;

/** A line outgrew the bound. */
export class LineTooLong extends Error {}

/** What is no message of the protocol, by amount: a stray line is passed over, a flood ends the child. Pure. */
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

  /** @returns whether there was too much of it of late */
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

  /** @param maxBytes of one line, without its end */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines that end in `chunk`, without their ends.
   * @throws LineTooLong
   */
  *push(chunk: Uint8Array): Generator<string, void, undefined> {
    let from = 0;
    for (;;) {
      // Only new bytes are searched, so that a long line in many pieces costs what its length does.
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
