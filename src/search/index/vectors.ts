/**
 * The semantic half of a segment: one unit vector per tool, as signed bytes with a scale. A tool whose text did not change keeps its
 * vector. Pure.
 */
import type { Vectors } from './segment-layout.ts';
import type { Embedding } from '../text/embedding.ts';
import {
  MAX_DESCRIPTION_CHARS,
  MAX_NAME_CHARS,
  MAX_TITLE_CHARS,
  divideDescription,
  type SearchedTool,
} from './searched-tool.ts';
import { hashText } from '../text/terms.ts';

const MOST = 127;
const SECOND_SEED = 0x9e3779b9;

/** Writes the vectors of tools into `arrays`. */
export function toVectors(
  tools: readonly SearchedTool[],
  embedding: Embedding,
  arrays: Vectors,
  previous: (Vectors & { readonly embeddingId: number }) | undefined,
): void {
  const texts = tools.map(toDividedText);
  arrays.textHashes.set(hashTexts(texts.map(({ lead, rest }) => `${lead}\0${rest}`)));
  const known = previous?.embeddingId === embedding.id ? previous : undefined;
  findTexts(arrays.textHashes, known).forEach((place, index) => {
    const { lead = '', rest = '' } = texts[index] ?? {};
    const small =
      known && place >= 0
        ? takeVector(known, place, embedding.dimensions)
        : toSmallVector(embedding.embed(lead, rest));
    putVector(small, index, arrays);
  });
}

/** The two texts that a tool's vector is made from: `lead` counts in full, `rest` for less. */
function toDividedText({ description = '', ...tool }: SearchedTool) {
  const { lead, rest } = divideDescription(description.slice(0, MAX_DESCRIPTION_CHARS));
  return { lead: toEmbeddedText({ ...tool, description: lead }), rest };
}

/** Joins the texts of a tool that are embedded. */
export function toEmbeddedText({ name, title = '', description = '' }: SearchedTool): string {
  return [
    name.slice(0, MAX_NAME_CHARS),
    title.slice(0, MAX_TITLE_CHARS),
    description.slice(0, MAX_DESCRIPTION_CHARS),
  ].join(' ');
}

/** A vector as signed bytes, to be multiplied by its scale. */
export interface SmallVector {
  scale: number;
  bytes: Int8Array;
}

/** Quantises a vector to signed bytes, scaled so that the largest value uses the full range. */
export function toSmallVector(vector: Float32Array): SmallVector {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const scale = largest / MOST;
  return { scale, bytes: Int8Array.from(vector, value => (scale ? Math.round(value / scale) : 0)) };
}

export function putVector({ scale, bytes }: SmallVector, index: number, arrays: Vectors): void {
  arrays.vectorScales[index] = scale;
  arrays.vectors.set(bytes, index * bytes.length);
}

export function takeVector(from: Vectors, index: number, dimensions: number): SmallVector {
  return {
    scale: from.vectorScales[index] ?? 0,
    bytes: from.vectors.subarray(dimensions * index, dimensions * (index + 1)),
  };
}

/** Hashes texts to tell them apart, in the format of `textHashes`. */
export function hashTexts(texts: readonly string[]): Uint32Array {
  return Uint32Array.from({ length: 2 * texts.length }, (_, i) =>
    hashText(texts[i >> 1] ?? '', i % 2 === 0 ? undefined : SECOND_SEED),
  );
}

/** Finds the places of texts among the known vectors; -1 for a text that is not there. */
export function findTexts(hashes: Uint32Array, known: Vectors | undefined): Int32Array {
  const places = new Map<number, number>();
  const before = known?.textHashes ?? new Uint32Array();
  for (let i = 0; 2 * i < before.length; i += 1) places.set(before[2 * i] ?? 0, i);
  return Int32Array.from({ length: hashes.length / 2 }, (_, i) => {
    const place = places.get(hashes[2 * i] ?? 0);
    const isSame = place !== undefined && before[2 * place + 1] === hashes[2 * i + 1];
    return isSame ? place : -1;
  });
}
