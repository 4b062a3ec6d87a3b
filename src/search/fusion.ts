/**
 * Words and vectors to one number: each as its distance from the mean in standard deviations, over the tools that take part, then added with weights.
 */
import { eachPlace, type Parts } from './part.ts';
import type { Tuning } from './tuning.ts';

/** Fused numbers of all places; -Infinity where the tool takes no part. */
export function toFused(
  lexical: Float32Array,
  cosines: Float32Array,
  all: Parts,
  tuning: Tuning,
): Float64Array {
  const fused = new Float64Array(all.places).fill(-Infinity);
  const words = toMoments(lexical, all);
  const vectors = toMoments(cosines, all);
  eachPlace(all, place => {
    fused[place] =
      tuning.lexicalWeight * toDistance(lexical[place] ?? 0, words) +
      tuning.semanticWeight * toDistance(cosines[place] ?? 0, vectors);
  });
  return fused;
}

interface Moments {
  mean: number;
  deviation: number;
}

function toMoments(values: Float32Array, all: Parts): Moments {
  let sum = 0;
  let squares = 0;
  eachPlace(all, place => {
    const value = values[place] ?? 0;
    sum += value;
    squares += value * value;
  });
  const count = Math.max(all.count, 1);
  const mean = sum / count;
  return { mean, deviation: Math.sqrt(Math.max(squares / count - mean * mean, 0)) };
}

function toDistance(value: number, { mean, deviation }: Moments): number {
  return deviation < 1e-6 ? 0 : (value - mean) / deviation;
}
