/**
 * Builds a skill's vector from its texts and the tools in it. The tools of each server count as one, so that no server outweighs another by
 * the number of its tools. Pure.
 */
import { normalise, type Embedding } from '../text/embedding.ts';

export interface SkillTexts {
  name: string;
  description: string;
  examples: readonly string[];
}

/** The sum of the vectors of one server's tools that are in a skill. */
export interface MemberTotal {
  members: number;
  total: Float32Array;
}

/** Weight of all members relative to the texts. */
const MEMBERS_WEIGHT = 1;

/** @param members totals by server @returns a unit vector; all zero where no word is known and there are no members */
export function toSkillVector(
  { name, description, examples }: SkillTexts,
  members: readonly MemberTotal[],
  embedding: Embedding,
): Float32Array {
  const sum = embedding.embed(`${name} ${description}`);
  const shown = sumOf(examples.map(example => embedding.embed(example)));
  addTo(sum, normalise(shown), 1);
  normalise(sum);
  const means = members
    .filter(({ members: count }) => count > 0)
    .map(({ total }) => normalise(Float32Array.from(total)));
  addTo(sum, normalise(sumOf(means)), MEMBERS_WEIGHT);
  return normalise(sum);

  function sumOf(vectors: readonly Float32Array[]): Float32Array {
    const all = new Float32Array(embedding.dimensions);
    for (const vector of vectors) addTo(all, vector, 1);
    return all;
  }
}

/** Adds a vector to a sum, in place. */
export function addTo(sum: Float32Array, vector: Float32Array, weight: number): void {
  for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) + weight * (vector[i] ?? 0);
}

/** Cosine of two unit vectors, -1 to 1. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
