/**
 * Where the parts of a segment lie in its bytes: one header of 32-bit numbers, then arrays in the order of their alignment, so that reading
 * is laying views over the bytes. Little-endian, as every platform this runs on. Pure.
 */

export const SEGMENT_MAGIC = 0x47455350;
/** In the bytes and in the key they are kept under: another layout, another analysis of text or another meaning of a field is another version. */
export const SEGMENT_VERSION = 3;

/** What is counted apart, in this order; `lead` is the title and how the description begins. */
export const FIELDS = ['name', 'lead', 'description', 'parameters', 'parameterTexts'] as const;
export const FIELD_COUNT = FIELDS.length;

/** How many there are of each thing; what the header says. */
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
  /** Where the postings of a term begin; one more at the end. */
  postingStarts: Uint32Array;
  /** Where the name of a tool begins in `names`; one more at the end. */
  nameStarts: Uint32Array;
  /** The tool of each posting, ascending for each term. */
  postingTools: Uint16Array;
  /** Terms of each field of each tool. */
  lengths: Uint16Array;
  /** UTF-16 code units. */
  names: Uint16Array;
  /** How often the term is in each field, for each posting. */
  frequencies: Uint8Array;
  flags: Uint8Array;
}

const HEADER_WORDS = 8;

/** Bytes of a segment of these sizes. */
export function toByteLength(sizes: SegmentSizes): number {
  const { tools, terms, postings, nameUnits, dimensions } = sizes;
  const words = HEADER_WORDS + terms + (terms + 1) + (tools + 1) + 2 * tools + tools;
  const halves = postings + FIELD_COUNT * tools + nameUnits;
  return 4 * words + 2 * halves + FIELD_COUNT * postings + tools + tools * dimensions;
}

/** Views of the parts; the bytes are of the length that `toByteLength` says. */
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

/** Reads the header; undefined where the bytes are of another version, or not as long as it says. */
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

/** Vectors of the tools of one catalog, by their place in its list. */
export interface Vectors {
  /** Two numbers a tool: the hash of the text its vector was made of. */
  textHashes: Uint32Array;
  /** A vector is its bytes times its scale; with a scale of 0 there is none. */
  vectorScales: Float32Array;
  vectors: Int8Array;
}
