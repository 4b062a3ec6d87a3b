/**
 * Vectors of one catalog's tools that a model made, in one run of bytes that is kept as it is and read without a parse. Little-endian:
 * 32 bits each for `PMVC`, version, tools, dimensions; then, for all tools, the hashes of the texts (2 × 32 bits), the scales (32-bit floats), the
 * vectors (signed bytes). Pure.
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
/** In the bytes and in the key they are kept under: another form, or other texts, is another version. */
export const MODEL_VECTORS_VERSION = 2;
const HEADER_WORDS = 4;
/** Of a model that gives more the first are kept: those trained to be cut are nearly as good, and the others little worse. */
const MAX_DIMENSIONS = 1_024;
/** More tools of one catalog than this have no such vectors: what is kept stays below the 25 MiB of a value. */
const MAX_TOOLS = 20_000;
/** How much of a text a model is given, in UTF-16 code units. */
const MAX_CHARS = 2_000;

/** Vectors of texts, as many and in their order. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;

export interface MadeVectors {
  bytes: Uint8Array<ArrayBuffer>;
  /** What the model failed with: what it had not answered by then has no vector, and is asked for where this is the previous one. */
  failure?: unknown;
}

/**
 * Makes the vectors of a catalog's tools. The model is asked only for texts that `previous` does not have.
 * @param atOnce most texts of one question
 * @param previous of the same server and the same model
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
  // A model that gives others now than before: what there is cannot be compared with them.
  if (previous && dimensions !== previous.dimensions) {
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

/** What a model said of a text, as it is compared: of length 1, its dimensions a multiple of four. */
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
