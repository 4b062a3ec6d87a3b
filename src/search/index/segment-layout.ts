/**
 * The byte layout of a segment: a header of 32-bit numbers, then arrays ordered by alignment, so that reading means laying typed-array
 * views over the bytes. Little-endian, like every platform this runs on. Pure.
 */

export const SEGMENT_MAGIC = 0x47455350;
/** Written in the bytes and in the storage key. Raise it when the layout, the text analysis or the meaning of a field changes. */
export const SEGMENT_VERSION = 3;

/** Fields counted separately, in this order; `lead` is the title and the beginning of the description. */
export const FIELDS = ['name', 'lead', 'description', 'parameters', 'parameterTexts'] as const;
export const FIELD_COUNT = FIELDS.length;

/** Number of elements of each kind, as in the header. */
export interface SegmentSizes {
  tools: number;
  terms: number;
  postings: number;
  nameUnits: number;
  dimensions: number;
}

/** The arrays of a segment. */
export interface SegmentArrays extends Vectors {
  /** Hashes of the terms, ascending. */
  termHashes: Uint32Array;
  /** Index of each term's first posting; one more entry at the end. */
  postingStarts: Uint32Array;
  /** Index of each tool's name in `names`; one more entry at the end. */
  nameStarts: Uint32Array;
  /** The tool of each posting; ascending within a term. */
  postingTools: Uint16Array;
  /** Number of terms in each field of each tool. */
  lengths: Uint16Array;
  /** UTF-16 code units of all names. */
  names: Uint16Array;
  /** For each posting, how often its term occurs in each field. */
  frequencies: Uint8Array;
  flags: Uint8Array;
}

const HEADER_WORDS = 8;

/** Returns the byte length of a segment with these sizes. */
export function toByteLength(sizes: SegmentSizes): number {
  const { tools, terms, postings, nameUnits, dimensions } = sizes;
  const words = HEADER_WORDS + terms + (terms + 1) + (tools + 1) + 2 * tools + tools;
  const halves = postings + FIELD_COUNT * tools + nameUnits;
  return 4 * words + 2 * halves + FIELD_COUNT * postings + tools + tools * dimensions;
}

/** Lays views over the bytes, whose length must be what `toByteLength` returns. */
export function toArrays(bytes: ArrayBuffer, sizes: SegmentSizes): SegmentArrays {
  const { tools, terms, postings, nameUnits, dimensions } = sizes;
  let at = 4 * HEADER_WORDS;
  const next = (byteLength: number): number => {
    const from = at;
    at += byteLength;
    return from;
  };
  return {
    termHashes: new Uint32Array(bytes, next(4 * terms), terms),
    postingStarts: new Uint32Array(bytes, next(4 * (terms + 1)), terms + 1),
    nameStarts: new Uint32Array(bytes, next(4 * (tools + 1)), tools + 1),
    textHashes: new Uint32Array(bytes, next(8 * tools), 2 * tools),
    vectorScales: new Float32Array(bytes, next(4 * tools), tools),
    postingTools: new Uint16Array(bytes, next(2 * postings), postings),
    lengths: new Uint16Array(bytes, next(2 * FIELD_COUNT * tools), FIELD_COUNT * tools),
    names: new Uint16Array(bytes, next(2 * nameUnits), nameUnits),
    frequencies: new Uint8Array(bytes, next(FIELD_COUNT * postings), FIELD_COUNT * postings),
    flags: new Uint8Array(bytes, next(tools), tools),
    vectors: new Int8Array(bytes, next(tools * dimensions), tools * dimensions),
  };
}

/** Writes the header. */
export function writeHeader(bytes: ArrayBuffer, sizes: SegmentSizes, embeddingId: number): void {
  const { tools, terms, postings, nameUnits, dimensions } = sizes;
  new Uint32Array(bytes, 0, HEADER_WORDS).set([
    SEGMENT_MAGIC,
    SEGMENT_VERSION,
    embeddingId,
    tools,
    terms,
    postings,
    nameUnits,
    dimensions,
  ]);
}

/** Reads the header; undefined where the version differs or the length is not the one it states. */
export function readHeader(
  bytes: ArrayBuffer,
): { sizes: SegmentSizes; embeddingId: number } | undefined {
  if (bytes.byteLength < 4 * HEADER_WORDS) return undefined;
  const words = new Uint32Array(bytes, 0, HEADER_WORDS);
  const [magic, version, embeddingId = 0, tools = 0, terms = 0, postings = 0] = words;
  const sizes = { tools, terms, postings, nameUnits: words[6] ?? 0, dimensions: words[7] ?? 0 };
  if (magic !== SEGMENT_MAGIC || version !== SEGMENT_VERSION) return undefined;
  return toByteLength(sizes) === bytes.byteLength ? { sizes, embeddingId } : undefined;
}

/** Vectors of one catalog's tools, by their place in its list. */
export interface Vectors {
  /** Two numbers per tool: the hash of the text its vector was made from. */
  textHashes: Uint32Array;
  /** A vector is its bytes times its scale; a scale of 0 means that there is no vector. */
  vectorScales: Float32Array;
  vectors: Int8Array;
}
