/** Cosines of a query's vector with those of tools and of their servers' names. Pure. */
import type { Parts } from './part.ts';
import type { Tuning } from './tuning.ts';

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
  for (const { segment, shown, offset, server } of all.parts) {
    if (segment.embeddingId !== embeddingId || segment.dimensions !== dimensions) continue;
    const { vectors, vectorScales } = segment;
    let shared = 0;
    for (let i = 0; i < dimensions; i += 1) shared += (vector[i] ?? 0) * (server.vector[i] ?? 0);
    for (let tool = 0; tool < segment.size; tool += 1) {
      if (shown && !shown[tool]) continue;
      let sum = 0;
      for (let i = 0, at = tool * dimensions; i < dimensions; i += 1, at += 1) {
        sum += (vector[i] ?? 0) * (vectors[at] ?? 0);
      }
      cosines[offset + tool] = sum * (vectorScales[tool] ?? 0) + serverVectorWeight * shared;
    }
  }
  return cosines;
}
