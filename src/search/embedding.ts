/**
 * A word-piece embedding: the vector of a text is the normalised sum of the vectors of its word pieces, found greedily, longest
 * first, in the words of `words.ts`. No model runs. The table is one file (`pages/search/embedding.bin`) read as it lies:
 * no string and no object for a piece, so 27,000 pieces cost their bytes and a table of slots.
 *
 * File, little-endian: `PIEC`, version, an id of what follows, dimensions, count (32 bits each); count hashes of pieces (32 bits, of `hashText`, from `CONTINUED` for a
 * piece that goes on with a word); count scales (32-bit float); count × dimensions signed bytes. A vector is its bytes times its scale.
 */
import { FNV_OFFSET, FNV_PRIME, mix } from './terms.ts';
import { toWords } from './words.ts';

export interface Embedding {
  readonly dimensions: number;
  /** Another table has another id: vectors of two tables cannot be compared. */
  readonly id: number;
  /** Unit vector of a text; all zero where no piece is known. */
  embed(text: string): Float32Array;
  /** The pieces of a word in lower case, as rows; none where it cannot be made of known pieces. */
  toPieces(word: string): readonly number[];
  /** Adds a piece's vector, weighed, to a sum of `dimensions` numbers. */
  add(piece: number, weight: number, sum: Float32Array): void;
}

export const EMBEDDING_MAGIC = 0x43454950;
export const EMBEDDING_VERSION = 1;
const HEADER_WORDS = 5;
/** How much of a text is embedded, in characters. */
const MAX_CHARS = 2_000;
/** Where the hash of a piece starts that goes on with a word. */
export const CONTINUED = 0x2f0b4c47;
const MAX_PIECE_CHARS = 24;

/** Reads the file. Throws where it is malformed. */
export function readEmbedding(bytes: ArrayBuffer): Embedding {
  const header = new Uint32Array(bytes.slice(0, 4 * HEADER_WORDS));
  const [magic, version, id = 0, dimensions = 0, count = 0] = header;
  const size = 4 * (HEADER_WORDS + 2 * count) + count * dimensions;
  if (magic !== EMBEDDING_MAGIC || version !== EMBEDDING_VERSION || bytes.byteLength !== size) {
    throw new Error('the embedding is malformed or of another version');
  }
  const hashes = new Uint32Array(bytes, 4 * HEADER_WORDS, count);
  const scales = new Float32Array(bytes, 4 * (HEADER_WORDS + count), count);
  const rows = new Int8Array(bytes, 4 * (HEADER_WORDS + 2 * count), count * dimensions);
  const find = toFinder(hashes);

  const toPieces = (word: string): number[] => {
    const pieces: number[] = [];
    const ends = new Int32Array(MAX_PIECE_CHARS);
    for (let start = 0; start < word.length;) {
      const most = Math.min(word.length - start, MAX_PIECE_CHARS);
      let state = start === 0 ? FNV_OFFSET : CONTINUED;
      for (let i = 0; i < most; i += 1) {
        state = Math.imul(state ^ word.charCodeAt(start + i), FNV_PRIME);
        ends[i] = state;
      }
      let length = most;
      let row = -1;
      for (; length > 0; length -= 1) {
        row = find(mix(ends[length - 1] ?? 0));
        if (row >= 0) break;
      }
      if (row < 0) return [];
      pieces.push(row);
      start += length;
    }
    return pieces;
  };

  const add = (piece: number, weight: number, sum: Float32Array): void => {
    const scale = (scales[piece] ?? 0) * weight;
    const from = piece * dimensions;
    for (let i = 0; i < dimensions; i += 1) {
      sum[i] = (sum[i] ?? 0) + scale * (rows[from + i] ?? 0);
    }
  };

  const embed = (text: string): Float32Array => {
    const sum = new Float32Array(dimensions);
    for (const { whole, parts } of toWords(text, MAX_CHARS)) {
      const known = toPieces(whole);
      const pieces = parts.length > 1 && known.length !== 1 ? parts.flatMap(toPieces) : known;
      for (const piece of pieces) add(piece, 1, sum);
    }
    return normalise(sum);
  };

  return { dimensions, id, embed, toPieces, add };
}

/** Makes a vector one of length 1, in place; one of length 0 stays. */
export function normalise(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) return vector;
  const factor = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i += 1) vector[i] = (vector[i] ?? 0) * factor;
  return vector;
}

/** A look-up from a hash to its place in the list, -1 where it is not there: open addressing in one typed array. */
function toFinder(hashes: Uint32Array): (hash: number) => number {
  let slots = 16;
  while (slots < 2 * hashes.length) slots *= 2;
  const table = new Int32Array(slots).fill(-1);
  const last = slots - 1;
  hashes.forEach((hash, place) => {
    let slot = hash & last;
    while (table[slot] !== -1) slot = (slot + 1) & last;
    table[slot] = place;
  });
  return hash => {
    let slot = hash & last;
    for (;;) {
      const place = table[slot] ?? -1;
      if (place === -1 || hashes[place] === hash) return place;
      slot = (slot + 1) & last;
    }
  };
}
