/**
 * Replaces texts in bytes that arrive in pieces of any size. Bytes that belong to none of the texts are passed on
 * unchanged and at once; held back are only the last bytes of a piece, where one of the texts may have begun. Pure.
 *
 * Invariant: the work is linear in the bytes, whatever they and the texts are (Horspool's skips where no match has
 * begun, the Knuth-Morris-Pratt table where one has).
 */

/** A text to look for. */
export interface Needle {
  bytes: Uint8Array;
  replacement: Uint8Array;
  /** How far to advance if a byte stands under the last byte of the text. */
  skip: Int32Array;
  /** For each prefix of the text: the length of its longest proper suffix that is also a prefix. */
  fallback: Int32Array;
}

/** @param text not empty */
export function toNeedle(text: string, replacement: string): Needle {
  const encoder = new TextEncoder();
  const bytes = encoder.encode(text);
  const skip = new Int32Array(256).fill(bytes.length);
  bytes.subarray(0, -1).forEach((byte, at) => (skip[byte] = bytes.length - 1 - at));
  const fallback = new Int32Array(bytes.length);
  for (let at = 1, known = 0; at < bytes.length; at += 1) {
    while (known > 0 && bytes[at] !== bytes[known]) known = fallback[known - 1] ?? 0;
    if (bytes[at] === bytes[known]) known += 1;
    fallback[at] = known;
  }
  return { bytes, replacement: encoder.encode(replacement), skip, fallback };
}

/** Where a needle was found, as positions in all bytes so far. */
interface Found {
  start: number;
  end: number;
  replacement: Uint8Array;
}

/** Replaces in one stream of bytes. */
export class ByteReplacer {
  /** Whether anything was replaced so far. */
  hasReplaced = false;
  readonly #needles: readonly Needle[];
  /** For each needle, how many of its first bytes the input so far ends with. */
  readonly #begun: Int32Array;
  /** The last bytes so far, which are not passed on yet. */
  #held = new Uint8Array(0);
  /** How many bytes arrived, and how many of them are dealt with. */
  #came = 0;
  #done = 0;
  /** Matches in the held bytes. */
  #waiting: Found[] = [];

  constructor(needles: readonly Needle[]) {
    this.#needles = needles;
    this.#begun = new Int32Array(needles.length);
  }

  /** @returns the bytes that can be passed on now, in order; they may share memory with `piece` */
  push(piece: Uint8Array): Uint8Array[] {
    const found = this.#waiting;
    this.#needles.forEach((needle, at) => this.#find(needle, at, piece, found));
    this.#came += piece.length;
    const open = this.#begun.reduce((most, begun) => Math.max(most, begun), 0);
    if (open === 0 && found.length === 0 && this.#held.length === 0) {
      this.#done = this.#came;
      return piece.length === 0 ? [] : [piece];
    }
    return this.#give(piece, this.#came - open);
  }

  /** Returns the rest, after the last piece. */
  end(): Uint8Array[] {
    return this.#give(new Uint8Array(0), this.#came);
  }

  #find(
    { bytes, skip, fallback, replacement }: Needle,
    at: number,
    piece: Uint8Array,
    all: Found[],
  ) {
    const { length } = bytes;
    const [first] = bytes;
    const last = bytes[length - 1];
    let begun = this.#begun[at] ?? 0;
    let i = 0;
    while (i < piece.length) {
      if (begun === 0) {
        let end = i + length - 1;
        while (end < piece.length) {
          const byte = piece[end] ?? 0;
          if (byte === last && piece[end - length + 1] === first) break;
          end += skip[byte] ?? 1;
        }
        i = end - length + 1;
        if (i >= piece.length) break;
      }
      const byte = piece[i];
      while (begun > 0 && byte !== bytes[begun]) begun = fallback[begun - 1] ?? 0;
      if (byte === bytes[begun]) begun += 1;
      i += 1;
      if (begun < length) continue;
      const end = this.#came + i;
      all.push({ start: end - length, end, replacement });
      begun = fallback[length - 1] ?? 0;
    }
    this.#begun[at] = begun;
  }

  /** @param until bytes and matches from this position on are held back */
  #give(piece: Uint8Array, until: number): Uint8Array[] {
    const bytes = this.#held.length === 0 ? piece : joined([this.#held, piece]);
    const start = this.#came - bytes.length;
    const given: Uint8Array[] = [];
    const giveUpTo = (end: number) => {
      if (end > this.#done) given.push(bytes.subarray(this.#done - start, end - start));
      this.#done = Math.max(this.#done, end);
    };
    // Of two matches that begin at the same position the longer one wins.
    const found = this.#waiting.toSorted((a, b) => a.start - b.start || b.end - a.end);
    this.#waiting = [];
    for (const one of found) {
      if (one.start >= until) {
        this.#waiting.push(one);
        continue;
      }
      // A match that begins inside an earlier one is removed with it.
      if (one.start >= this.#done) {
        giveUpTo(one.start);
        given.push(one.replacement);
        this.hasReplaced = true;
      }
      this.#done = Math.max(this.#done, one.end);
    }
    giveUpTo(until);
    this.#held = bytes.slice(this.#done - start);
    return given;
  }
}

/** Returns a text with the replacements; the same string if there are none. */
export function replaceText(text: string, needles: readonly Needle[]): string {
  const replacer = new ByteReplacer(needles);
  const pieces = [...replacer.push(new TextEncoder().encode(text)), ...replacer.end()];
  if (!replacer.hasReplaced) return text;
  return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(joined(pieces));
}

/** Joins pieces; a single piece is returned itself and shares its memory. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
