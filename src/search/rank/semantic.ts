/** Cosines of a query's vector with those of tools and of their servers' names. Pure. */
import type { Parts } from '../index/part.ts';
import type { Tuning } from './tuning.ts';

/** 1 in a query's vector of whole numbers; with 4,096 dimensions of 127 a sum still has 31 bits. */
const ONE = 4_096;

/**
 * For each place the cosine with the tool and, weighed, with its server's name; 0 where the tool takes no part or its vector is of another embedding.
 * @param vector of length 1
 */
export function toCosines(
  vector: Float32Array,
  embeddingId: number,
  all: Parts,
  { serverVectorWeight }: Tuning,
): Float32Array {
  const cosines = new Float32Array(all.places);
  const dimensions = vector.length;
  const whole = toWhole(vector);
  for (const { segment, shown, offset, server } of all.parts) {
    if (segment.embeddingId !== embeddingId || segment.dimensions !== dimensions) continue;
    const { vectors, vectorScales } = segment;
    let shared = 0;
    for (let i = 0; i < dimensions; i += 1) shared += (vector[i] ?? 0) * (server.vector[i] ?? 0);
    for (let tool = 0; tool < segment.size; tool += 1) {
      if (shown && !shown[tool]) continue;
      const product = multiply(whole, vectors, tool * dimensions) / ONE;
      cosines[offset + tool] = product * (vectorScales[tool] ?? 0) + serverVectorWeight * shared;
    }
  }
  return cosines;
}

/**
 * For each place the cosine with what a model made of the tool; NaN where the tool takes no part or there is nothing of this model; undefined where
 * that is so for all.
 * @param vector of length 1, of the same model
 */
export function toModelCosines(vector: Float32Array, all: Parts): Float32Array | undefined {
  const cosines = new Float32Array(all.places).fill(NaN);
  const dimensions = vector.length;
  const whole = toWhole(vector);
  let isEmpty = true;
  for (const { segment, shown, offset, modelVectors } of all.parts) {
    if (modelVectors?.dimensions !== dimensions) continue;
    const { size, vectors, vectorScales } = modelVectors;
    for (let tool = 0; tool < Math.min(size, segment.size); tool += 1) {
      const scale = vectorScales[tool] ?? 0;
      if (scale === 0 || (shown && !shown[tool])) continue;
      cosines[offset + tool] = (multiply(whole, vectors, tool * dimensions) / ONE) * scale;
      isEmpty = false;
    }
  }
  return isEmpty ? undefined : cosines;
}

const toWhole = (vector: Float32Array): Int32Array =>
  Int32Array.from(vector, value => Math.round(value * ONE));

/** In whole numbers and in four sums, which is several times as fast; the number of dimensions is a multiple of four. */
function multiply(whole: Int32Array, vectors: Int8Array, from: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0, at = from; i < whole.length; i += 4, at += 4) {
    a = (a + Math.imul(whole[i] as number, vectors[at] as number)) | 0;
    b = (b + Math.imul(whole[i + 1] as number, vectors[at + 1] as number)) | 0;
    c = (c + Math.imul(whole[i + 2] as number, vectors[at + 2] as number)) | 0;
    d = (d + Math.imul(whole[i + 3] as number, vectors[at + 3] as number)) | 0;
  }
  return a + b + c + d;
}
