/**
 * Fuses lexical scores and cosines into one value: each becomes its distance from the mean in standard deviations, over the tools that take
 * part, and they are added with weights. Adding a model's vectors leaves the sum of the weights unchanged. A tool without such a vector
 * counts as one at the mean.
 */
import type { Parts } from '../index/part.ts';
import type { Tuning } from './tuning.ts';

/**
 * Returns the fused values of all places; -Infinity where the tool takes no part.
 * @param modelCosines NaN where a tool has none
 */
export function toFused(
  lexical: Float32Array,
  cosines: Float32Array,
  all: Parts,
  { lexicalWeight, semanticWeight, modelWeight }: Tuning,
  modelCosines?: Float32Array,
): Float64Array {
  const fused = new Float64Array(all.places).fill(-Infinity);
  const words = toMoments(lexical, all);
  const vectors = toMoments(cosines, all);
  const model = modelCosines && toMoments(modelCosines, all);
  const own = lexicalWeight + semanticWeight;
  const share = model ? own / (own + modelWeight) : 1;
  const { taking } = all;
  for (let i = 0; i < taking.length; i += 1) {
    const place = taking[i] ?? 0;
    let sum =
      lexicalWeight * toDistance(lexical[place] ?? 0, words) +
      semanticWeight * toDistance(cosines[place] ?? 0, vectors);
    if (model) sum += modelWeight * toDistance(modelCosines[place] ?? NaN, model);
    fused[place] = share * sum;
  }
  return fused;
}

interface Moments {
  mean: number;
  deviation: number;
}

function toMoments(values: Float32Array, { taking }: Parts): Moments {
  let [sum, squares, known] = [0, 0, 0];
  for (let i = 0; i < taking.length; i += 1) {
    const value = values[taking[i] ?? 0] ?? NaN;
    if (Number.isNaN(value)) continue;
    sum += value;
    squares += value * value;
    known += 1;
  }
  const count = Math.max(known, 1);
  const mean = sum / count;
  return { mean, deviation: Math.sqrt(Math.max(squares / count - mean * mean, 0)) };
}

function toDistance(value: number, { mean, deviation }: Moments): number {
  return deviation < 1e-6 || Number.isNaN(value) ? 0 : (value - mean) / deviation;
}
