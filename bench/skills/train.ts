/**
 * Trains the embedded classifier: for each skill a logistic regression (AdaGrad, a few passes, seeded) over the features of
 * `src/search/skills/features.ts`, to which the centroid of the skill's terms is added; and how scores become confidences (Platt). Each server counts
 * with the root of how many tools it has.
 */
import { BUCKETS, type Features } from '../../src/search/skills/features.ts';
import {
  ALL_BUCKETS,
  featureCount,
  RARITY_STEPS,
  toNumbered,
  type Calibration,
  type Numbered,
} from '../../src/search/skills/weights.ts';
import { toRandom } from './labels.ts';

/** A sample: features, the places of its labels, the server it is of. */
export interface Sample {
  features: Features;
  labels: readonly number[];
  group: string;
}

/** What is trained: how rare each bucket is, and for each feature the weight of each skill. */
export interface Trained {
  rarity: Uint8Array;
  weights: Float32Array;
}

const PASSES = 4;
const RATE = 0.03;
const DECAY = 1e-3;
/** How much centroids weigh beside the regression. */
const CENTROIDS = 8;

/** @param count how many skills there are */
export function train(samples: readonly Sample[], count: number, dimensions: number): Trained {
  const rarity = toRarity(samples);
  const inputs = samples.map(({ features }) => toNumbered(features, rarity, dimensions));
  const importance = toImportance(samples);
  const weights = regress(inputs, samples, importance, count, featureCount(dimensions));
  addCentroids(weights, inputs, samples, count, featureCount(dimensions) - ALL_BUCKETS - 1);
  return { rarity, weights };
}

function toRarity(samples: readonly Sample[]): Uint8Array {
  const counts = new Float64Array(ALL_BUCKETS);
  for (const { features } of samples) {
    for (const bucket of features.terms) add(counts, bucket, 1);
    for (const bucket of features.serverTerms) add(counts, BUCKETS + bucket, 1);
  }
  return Uint8Array.from(counts, times =>
    Math.round(RARITY_STEPS * (Math.log((1 + samples.length) / (1 + times)) + 1)),
  );
}

function toImportance(samples: readonly Sample[]): number[] {
  const sizes = new Map<string, number>();
  for (const { group } of samples) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return samples.map(({ group }) => 1 / Math.sqrt(sizes.get(group) ?? 1));
}

function regress(
  inputs: readonly Numbered[],
  samples: readonly Sample[],
  importance: readonly number[],
  count: number,
  features: number,
): Float32Array {
  const weights = new Float32Array(features * count);
  const squares = new Float32Array(weights.length).fill(1e-8);
  const random = toRandom(7);
  const order = samples.map((_, i) => i);
  for (let pass = 0; pass < PASSES; pass += 1) {
    shuffle(order, random);
    for (const place of order) {
      const { numbers = new Int32Array(), values = new Float32Array() } = inputs[place] ?? {};
      const errors = toErrors(weights, numbers, values, count);
      for (const label of samples[place]?.labels ?? []) add(errors, label, -1);
      const share = importance[place] ?? 0;
      for (let i = 0; i < numbers.length; i += 1) {
        const factor = (values[i] ?? 0) * share;
        const from = (numbers[i] ?? 0) * count;
        for (let k = 0; k < count; k += 1) {
          const at = from + k;
          const weight = weights[at] ?? 0;
          const slope = (errors[k] ?? 0) * factor + DECAY * share * weight;
          const square = (squares[at] ?? 0) + slope * slope;
          squares[at] = square;
          weights[at] = weight - (RATE * slope) / Math.sqrt(square);
        }
      }
    }
  }
  return weights;
}

function toErrors(
  weights: Float32Array,
  numbers: Int32Array,
  values: Float32Array,
  count: number,
): Float32Array {
  const errors = scoreNumbered(weights, { numbers, values }, count);
  for (let k = 0; k < count; k += 1) errors[k] = 1 / (1 + Math.exp(-(errors[k] ?? 0)));
  return errors;
}

function shuffle(order: number[], random: () => number): void {
  for (let i = order.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
  }
}

/** @param first number of the first bucket */
function addCentroids(
  weights: Float32Array,
  inputs: readonly Numbered[],
  samples: readonly Sample[],
  count: number,
  first: number,
): void {
  const centroids = new Float32Array(weights.length);
  const last = first + ALL_BUCKETS;
  inputs.forEach(({ numbers, values }, place) => {
    for (const label of samples[place]?.labels ?? []) {
      numbers.forEach((number, i) => {
        if (number >= first && number < last)
          add(centroids, number * count + label, values[i] ?? 0);
      });
    }
  });
  const squares = new Float64Array(count);
  centroids.forEach((value, i) => add(squares, i % count, value * value));
  centroids.forEach((value, i) => {
    add(weights, i, (CENTROIDS * value) / (Math.sqrt(squares[i % count] ?? 0) || 1));
  });
}

function scoreNumbered(
  weights: Float32Array,
  { numbers, values }: Numbered,
  count: number,
): Float32Array {
  const sums = new Float32Array(count);
  for (let i = 0; i < numbers.length; i += 1) {
    const value = values[i] ?? 0;
    const from = (numbers[i] ?? 0) * count;
    for (let k = 0; k < count; k += 1) sums[k] = (sums[k] ?? 0) + value * (weights[from + k] ?? 0);
  }
  return sums;
}

/** The scores of a sample under weights as they were trained. */
export function scoreOf(
  { rarity, weights }: Trained,
  features: Features,
  count: number,
): Float32Array {
  const dimensions =
    (weights.length / count - featureCount(0)) / (featureCount(1) - featureCount(0));
  return scoreNumbered(weights, toNumbered(features, rarity, dimensions), count);
}

function add(numbers: Float32Array | Float64Array, at: number, value: number): void {
  numbers[at] = (numbers[at] ?? 0) + value;
}

/** The slope and offset under which scores are the likelihoods of what came true (Newton's method on the log loss). */
export function calibrate(
  pairs: readonly (readonly [score: number, isTrue: boolean])[],
): Calibration {
  let [slope, offset] = [1, 0];
  const mean = pairs.reduce((sum, [score]) => sum + score, 0) / pairs.length;
  const spread = Math.sqrt(
    pairs.reduce((sum, [score]) => sum + (score - mean) ** 2, 0) / pairs.length,
  );
  for (let step = 0; step < 50; step += 1) {
    let [g0, g1, h00, h01, h11] = [0, 0, 1e-9, 0, 1e-9];
    for (const [score, isTrue] of pairs) {
      const x = (score - mean) / spread;
      const likelihood = 1 / (1 + Math.exp(-(slope * x + offset)));
      const error = likelihood - (isTrue ? 1 : 0);
      const curve = likelihood * (1 - likelihood);
      g0 += error * x;
      g1 += error;
      h00 += curve * x * x;
      h01 += curve * x;
      h11 += curve;
    }
    const determinant = h00 * h11 - h01 * h01;
    slope -= (h11 * g0 - h01 * g1) / determinant;
    offset -= (h00 * g1 - h01 * g0) / determinant;
  }
  return { slope: slope / spread, offset: offset - (slope * mean) / spread };
}
