/**
 * A model's vectors for the tools of one catalog, in one run of bytes that is stored as it is and read without parsing. Little-endian: 32
 * bits each for `PMVC`, version, tools, dimensions; then, for all tools, the hashes of the texts (2 × 32 bits), the scales (32-bit floats),
 * the vectors (signed bytes). Pure.
 */
import type { Vectors } from './segment-layout.ts';
import { normalise } from '../text/embedding.ts';
import type { SearchedTool } from './searched-tool.ts';
import {
  findTexts,
  hashTexts,
  putVector,
  takeVector,
  toEmbeddedText,
  toSmallVector,
  type SmallVector,
} from './vectors.ts';

export interface ModelVectors extends Vectors {
  readonly size: number;
  readonly dimensions: number;
}

const MAGIC = 0x43564d50;
/** Written in the bytes and in the storage key. Raise it when the layout or the embedded texts change. */
export const MODEL_VECTORS_VERSION = 2;
const HEADER_WORDS = 4;
/** Only this many leading dimensions are kept: models trained for truncation lose almost nothing, others a little. */
const MAX_DIMENSIONS = 1_024;
/** Tools of a catalog beyond this number get no such vectors, so that the stored value stays below KV's limit of 25 MiB. */
const MAX_TOOLS = 20_000;
/** How much of a text is sent to the model, in UTF-16 code units. */
const MAX_CHARS = 2_000;

/** Returns one vector per text, in their order. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;

export interface MadeVectors {
  bytes: Uint8Array<ArrayBuffer>;
  /** Why the model failed. Texts it had not embedded by then have no vector; a later pass given these as `previous` asks for them. */
  failure?: unknown;
}

/**
 * Makes the vectors of a catalog's tools. The model is asked only for texts that `previous` lacks.
 * @param atOnce most texts per request
 * @param previous vectors of the same server by the same model
 */
export async function buildModelVectors(
  tools: readonly SearchedTool[],
  embed: EmbedTexts,
  atOnce: number,
  previous?: ModelVectors,
): Promise<MadeVectors> {
  const texts = tools.slice(0, MAX_TOOLS).map(toModelText);
  const hashes = hashTexts(texts);
  const places = findTexts(hashes, previous);
  const missing = texts.flatMap((text, index) => (places[index] === -1 ? [{ text, index }] : []));
  const made = new Map<number, SmallVector>();
  let failure: unknown;
  for (let from = 0; from < missing.length && failure === undefined; from += atOnce) {
    const some = missing.slice(from, from + atOnce);
    try {
      const vectors = await embed(some.map(({ text }) => text));
      vectors.forEach((vector, i) => {
        made.set(some[i]?.index ?? -1, toSmallVector(toModelVector(vector)));
      });
    } catch (thrown) {
      failure = thrown;
    }
  }
  const [first] = made.values();
  const dimensions = first?.bytes.length ?? previous?.dimensions ?? 0;
  // The model now returns another number of dimensions, so its old vectors cannot be compared with the new ones: embed everything again.
  if (dimensions !== previous?.dimensions && places.some(place => place >= 0)) {
    return buildModelVectors(tools, embed, atOnce);
  }
  const { bytes, arrays } = allocate(texts.length, dimensions);
  places.forEach((place, index) => {
    const kept = previous && place >= 0 ? takeVector(previous, place, dimensions) : undefined;
    const small = kept ?? made.get(index);
    if (small?.bytes.length !== dimensions) return;
    putVector(small, index, arrays);
    arrays.textHashes.set(hashes.subarray(2 * index, 2 * index + 2), 2 * index);
  });
  return failure === undefined ? { bytes } : { bytes, failure };
}

/** Converts a model's output for comparison: unit length, dimensions padded to a multiple of four. */
export function toModelVector(values: readonly number[]): Float32Array {
  const kept = values.slice(0, MAX_DIMENSIONS);
  const vector = new Float32Array(Math.ceil(kept.length / 4) * 4);
  vector.set(kept);
  return normalise(vector);
}

/** Reads vectors; undefined where the bytes are of another version or malformed. The bytes are not copied and must not change. */
export function readModelVectors(bytes: ArrayBuffer): ModelVectors | undefined {
  if (bytes.byteLength < 4 * HEADER_WORDS) return undefined;
  const [magic, version, size = 0, dimensions = 0] = new Uint32Array(bytes, 0, HEADER_WORDS);
  if (magic !== MAGIC || version !== MODEL_VECTORS_VERSION) return undefined;
  if (bytes.byteLength !== toByteLength(size, dimensions)) return undefined;
  return { size, dimensions, ...toArrays(bytes, size, dimensions) };
}

const toModelText = (tool: SearchedTool): string => toEmbeddedText(tool).slice(0, MAX_CHARS);

const toByteLength = (size: number, dimensions: number): number =>
  4 * (HEADER_WORDS + 3 * size) + size * dimensions;

function allocate(size: number, dimensions: number) {
  const bytes = new Uint8Array(toByteLength(size, dimensions));
  const header = new Uint32Array(bytes.buffer, 0, HEADER_WORDS);
  header.set([MAGIC, MODEL_VECTORS_VERSION, size, dimensions]);
  return { bytes, arrays: toArrays(bytes.buffer, size, dimensions) };
}

function toArrays(bytes: ArrayBuffer, size: number, dimensions: number): Vectors {
  const scales = 4 * (HEADER_WORDS + 2 * size);
  return {
    textHashes: new Uint32Array(bytes, 4 * HEADER_WORDS, 2 * size),
    vectorScales: new Float32Array(bytes, scales, size),
    vectors: new Int8Array(bytes, scales + 4 * size, size * dimensions),
  };
}
