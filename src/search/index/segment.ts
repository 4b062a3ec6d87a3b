/**
 * The index of one catalog's tools: terms with postings, lengths, one vector per tool, names and flags, in one run of bytes that is stored
 * as it is and read without parsing (`segment-layout.ts`). It depends on the catalog and the embedding only; the server's record in the
 * registry is added at search time. Bounded: text beyond the limits below is not read. Pure.
 */
import type { Embedding } from '../text/embedding.ts';
import {
  SEGMENT_VERSION,
  readHeader,
  toArrays,
  toByteLength,
  writeHeader,
  type SegmentArrays,
} from './segment-layout.ts';
import { toPostings } from './postings.ts';
import type { SearchedTool } from './searched-tool.ts';
import { toVectors } from './vectors.ts';

export { SEGMENT_VERSION };
export { toSearchedTool, type SearchedTool } from './searched-tool.ts';

/** A segment that can be searched. Tools are identified by their place in the list it was built from. */
export interface Segment extends SegmentArrays {
  readonly size: number;
  readonly dimensions: number;
  /** Id of the embedding that made its vectors. */
  readonly embeddingId: number;
  nameOf(tool: number): string;
  isReadOnly(tool: number): boolean;
}

/** Tools of a catalog beyond this number are not indexed. */
const MAX_TOOLS = 65_535;
const READ_ONLY = 1;

/**
 * Builds the segment of a catalog.
 * @param previous segment of the same catalog before it changed; its vectors are reused where the text is the same
 */
export function buildSegment(
  tools: readonly SearchedTool[],
  embedding: Embedding,
  previous?: Segment,
): Uint8Array<ArrayBuffer> {
  const kept = tools.slice(0, MAX_TOOLS);
  const { termHashes, postingStarts, postingTools, frequencies, lengths } = toPostings(kept);
  const nameUnits = kept.reduce((sum, tool) => sum + tool.name.length, 0);
  const sizes = {
    tools: kept.length,
    terms: termHashes.length,
    postings: postingTools.length,
    nameUnits,
    dimensions: embedding.dimensions,
  };
  const bytes = new Uint8Array(toByteLength(sizes));
  writeHeader(bytes.buffer, sizes, embedding.id);
  const arrays = toArrays(bytes.buffer, sizes);
  arrays.termHashes.set(termHashes);
  arrays.postingStarts.set(postingStarts);
  arrays.postingTools.set(postingTools);
  arrays.frequencies.set(frequencies);
  arrays.lengths.set(lengths);
  let at = 0;
  kept.forEach(({ name, readOnly }, tool) => {
    for (let i = 0; i < name.length; i += 1) arrays.names[at + i] = name.charCodeAt(i);
    at += name.length;
    arrays.nameStarts[tool + 1] = at;
    arrays.flags[tool] = readOnly ? READ_ONLY : 0;
  });
  toVectors(kept, embedding, arrays, previous);
  return bytes;
}

/** Reads a segment; undefined where the bytes are malformed or of another version. The bytes are not copied and must not change. */
export function readSegment(bytes: ArrayBuffer): Segment | undefined {
  const header = readHeader(bytes);
  if (!header) return undefined;
  const { sizes, embeddingId } = header;
  const arrays = toArrays(bytes, sizes);
  const { postingStarts, nameStarts, names, flags } = arrays;
  if (postingStarts[sizes.terms] !== sizes.postings) return undefined;
  if (nameStarts[sizes.tools] !== sizes.nameUnits) return undefined;
  return {
    ...arrays,
    size: sizes.tools,
    dimensions: sizes.dimensions,
    embeddingId,
    nameOf: tool => toText(names.subarray(nameStarts[tool], nameStarts[tool + 1])),
    isReadOnly: tool => ((flags[tool] ?? 0) & READ_ONLY) !== 0,
  };
}

const UNITS_AT_ONCE = 4_096;

function toText(units: Uint16Array): string {
  let text = '';
  for (let i = 0; i < units.length; i += UNITS_AT_ONCE) {
    text += String.fromCharCode(...units.subarray(i, i + UNITS_AT_ONCE));
  }
  return text;
}
