/**
 * A word-piece embedding: the vector of a text is the normalised sum of the vectors of its word pieces, matched greedily, longest first, in
 * the words of `words.ts` that are not stop words. No model runs. The table is one file (`pages/search/embedding.bin`), used without
 * parsing: no string and no object per piece, so 27,000 pieces cost their bytes and a table of slots.
 *
 * File, little-endian: 32 bits each for `PIEC`, version, an id of what follows, dimensions, count of pieces, count of neighbours; then for
 * each piece the hash of its text (seeded with `CONTINUED` for a piece that continues a word), a scale (32-bit float), the hash of its term
 * as a word, the index of its first neighbour (one more at the end); then a vector for each piece in signed bytes, to be multiplied by its
 * scale; then the neighbours: a piece each (16 bits), then a similarity each (8 bits, 255 is 1). A piece's neighbours are words near it,
 * nearest first.
 */
import { STOP_WORDS } from './stop-words.ts';
import { FNV_OFFSET, FNV_PRIME, hashText, mix } from './terms.ts';
import { toWords, type Word } from './words.ts';

export interface Embedding {
  readonly dimensions: number;
  /** Identifies the table: vectors of two tables cannot be compared. */
  readonly id: number;
  /** Returns the unit vector of a text; all zero where no piece is known. @param rest text that follows and counts for less */
  embed(text: string, rest?: string): Float32Array;
  /**
   * Returns words of similar meaning as terms (`hashText` of a stem), nearest first; none where the word is not in the table as a whole.
   */
  neighboursOf(word: string): Neighbour[];
  /** Returns a word's index in the table, which is ordered commonest first; undefined where it is not there as a whole. */
  placeOf(word: string): number | undefined;
  /** Returns how rare a word is in English, 0 to 1; 1 where it is not in the table as a whole. */
  rarityOf(word: string): number;
}

/** A term near a word. */
export interface Neighbour {
  term: number;
  /** Cosine, greater than 0 and at most 1. */
  similarity: number;
}

export const EMBEDDING_MAGIC = 0x43454950;
export const EMBEDDING_VERSION = 2;
export const EMBEDDING_HEADER_WORDS = 6;
/** Hash seed of a piece that continues a word. */
export const CONTINUED = 0x2f0b4c47;
/** How much of a text is embedded, in UTF-16 code units. */
const MAX_CHARS = 2_000;
const MAX_PIECE_CHARS = 24;
/** How often one word counts: more repetitions say no more, and keyword stuffing gains nothing. */
const MAX_TIMES = 3;
/** Weight of a word of the rest. */
const REST_WEIGHT = 0.3;
/** This many of the commonest words are about equally common. */
const COMMON_WORDS = 1_000;

/** Reads the file. The bytes are not copied and must not change. @throws Error where they are malformed */
export function readEmbedding(bytes: ArrayBuffer): Embedding {
  const table = toTable(bytes);
  const { dimensions, id } = table;
  const find = toFinder(table.hashes);

  const embed = (text: string, rest = ''): Float32Array => {
    const sum = new Float32Array(dimensions);
    const times = new Map<string, number>();
    const addWords = (words: readonly Word[], weight: number): void => {
      const addPieces = (pieces: readonly number[]) => {
        for (const piece of pieces) addRow(table, piece, weight, sum);
      };
      for (const { whole, parts } of words) {
        const before = times.get(whole) ?? 0;
        if (before === MAX_TIMES) continue;
        times.set(whole, before + 1);
        const pieces = STOP_WORDS.has(whole) ? [] : toPieces(whole, find);
        if (parts.length === 1 || pieces.length === 1) addPieces(pieces);
        else for (const part of parts) if (!STOP_WORDS.has(part)) addPieces(toPieces(part, find));
      }
    };
    addWords(toWords(text, MAX_CHARS), 1);
    addWords(toWords(rest, Math.max(MAX_CHARS - text.length, 0)), REST_WEIGHT);
    return normalise(sum);
  };

  const neighboursOf = (word: string): Neighbour[] => {
    const [piece, ...more] = toPieces(word, find);
    const neighbours: Neighbour[] = [];
    if (piece === undefined || more.length > 0) return neighbours;
    for (let i = table.starts[piece] ?? 0; i < (table.starts[piece + 1] ?? 0); i += 1) {
      const term = table.terms[table.neighbours[i] ?? 0] ?? 0;
      neighbours.push({ term, similarity: (table.similarities[i] ?? 0) / 255 });
    }
    return neighbours;
  };

  const placeOf = (word: string): number | undefined => {
    const place = word.length > MAX_PIECE_CHARS ? -1 : find(hashText(word));
    return place < 0 ? undefined : place;
  };

  const rarityOf = (word: string): number => {
    const count = table.hashes.length;
    return Math.log1p((placeOf(word) ?? count) / COMMON_WORDS) / Math.log1p(count / COMMON_WORDS);
  };

  return { dimensions, id, embed, neighboursOf, placeOf, rarityOf };
}

/** Scales a vector to length 1, in place; a zero vector stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) return vector;
  const factor = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i += 1) vector[i] = (vector[i] ?? 0) * factor;
  return vector;
}

interface Table {
  dimensions: number;
  id: number;
  hashes: Uint32Array;
  scales: Float32Array;
  terms: Uint32Array;
  starts: Uint32Array;
  rows: Int8Array;
  neighbours: Uint16Array;
  similarities: Uint8Array;
}

function toTable(bytes: ArrayBuffer): Table {
  const [magic, version, id = 0, dimensions = 0, count = 0, links = 0] = new Uint32Array(
    bytes.slice(0, 4 * EMBEDDING_HEADER_WORDS),
  );
  const size = 4 * (EMBEDDING_HEADER_WORDS + 4 * count + 1) + count * dimensions + 3 * links;
  const isRight = magic === EMBEDDING_MAGIC && version === EMBEDDING_VERSION;
  if (!isRight || bytes.byteLength !== size || dimensions % 4 !== 0) {
    throw new Error('the embedding is malformed or of another version');
  }
  let at = 4 * EMBEDDING_HEADER_WORDS;
  const next = (byteLength: number): number => (at += byteLength) - byteLength;
  return {
    dimensions,
    id,
    hashes: new Uint32Array(bytes, next(4 * count), count),
    scales: new Float32Array(bytes, next(4 * count), count),
    terms: new Uint32Array(bytes, next(4 * count), count),
    starts: new Uint32Array(bytes, next(4 * (count + 1)), count + 1),
    rows: new Int8Array(bytes, next(count * dimensions), count * dimensions),
    neighbours: new Uint16Array(bytes, next(2 * links), links),
    similarities: new Uint8Array(bytes, next(links), links),
  };
}

type Find = (hash: number) => number;

/** Splits a lower-case word into pieces; none where it cannot be made of known ones. */
function toPieces(word: string, find: Find): number[] {
  const pieces: number[] = [];
  for (let start = 0; start < word.length;) {
    let state = start === 0 ? FNV_OFFSET : CONTINUED;
    let [piece, end] = [-1, start];
    for (let i = start; i < word.length && i < start + MAX_PIECE_CHARS; i += 1) {
      state = Math.imul(state ^ word.charCodeAt(i), FNV_PRIME);
      const found = find(mix(state));
      if (found >= 0) [piece, end] = [found, i + 1];
    }
    if (piece < 0) return [];
    pieces.push(piece);
    start = end;
  }
  return pieces;
}

function addRow(
  { dimensions, scales, rows }: Table,
  piece: number,
  weight: number,
  sum: Float32Array,
): void {
  const scale = weight * (scales[piece] ?? 0);
  const from = piece * dimensions;
  for (let i = 0; i < dimensions; i += 1) sum[i] = (sum[i] ?? 0) + scale * (rows[from + i] ?? 0);
}

/** Builds a look-up from a hash to its index, -1 where absent: open addressing in one typed array. */
function toFinder(hashes: Uint32Array): Find {
  let slots = 16;
  while (slots < 2 * hashes.length) slots *= 2;
  const places = new Int32Array(slots).fill(-1);
  const last = slots - 1;
  hashes.forEach((hash, place) => {
    let slot = hash & last;
    while (places[slot] !== -1) slot = (slot + 1) & last;
    places[slot] = place;
  });
  return hash => {
    let slot = hash & last;
    for (;;) {
      const place = places[slot] ?? -1;
      if (place === -1 || hashes[place] === hash) return place;
      slot = (slot + 1) & last;
    }
  };
}
