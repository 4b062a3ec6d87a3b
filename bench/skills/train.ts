/**
 * Trains the embedded classifier on the features of `src/search/skills/features.ts`: a softmax for the first label (the others count as a
 * fraction; AdaGrad, a few passes, seeded), plus the centroid of each skill's terms; and the conversion of scores to confidences (Platt). A
 * server counts with the fourth root of its number of tools.
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

/** A sample: features, indexes of its labels, and its server. */
export interface Sample {
  features: Features;
  /** The best fitting first. */
  labels: readonly number[];
  group: string;
}

/** The result of training: the rarity of each bucket, and for each feature the weight of each skill. */
export interface Trained {
  rarity: Uint8Array;
  weights: Float32Array;
}

/** Training parameters. */
export interface Recipe {
  passes: number;
  rate: number;
  decay: number;
  /** Weight of each label relative to the one before it. */
  fading: number;
  /** Weight of the centroids relative to the softmax. */
  centroids: number;
  /** Each tool counts less by this power of its server's number of tools. */
  sizing: number;
}

export const RECIPE: Recipe = {
  passes: 6,
  rate: 0.05,
  decay: 3e-4,
  fading: 0.08,
  centroids: 8,
  sizing: 0.75,
};

/** @param count number of skills */
export function train(
  samples: readonly Sample[],
  count: number,
  dimensions: number,
  recipe: Recipe = RECIPE,
): Trained {
  const rarity = toRarity(samples);
  const course: Course = {
    inputs: samples.map(({ features }) => toNumbered(features, rarity, dimensions)),
    targets: samples.map(({ labels }) => toTargets(labels, count, recipe.fading)),
    importance: toImportance(samples, recipe.sizing),
    count,
    features: featureCount(dimensions),
    recipe,
  };
  const weights = regress(course);
  toCentroids(course).forEach((value, i) => add(weights, i, recipe.centroids * value));
  return { rarity, weights };
}

interface Course {
  inputs: readonly Numbered[];
  /** For each sample the target share of each skill; they sum to 1. */
  targets: readonly Float32Array[];
  importance: readonly number[];
  count: number;
  features: number;
  recipe: Recipe;
}

function toTargets(labels: readonly number[], count: number, fading: number): Float32Array {
  const targets = new Float32Array(count);
  labels.forEach((label, i) => add(targets, label, fading ** i));
  const sum = targets.reduce((total, target) => total + target, 0) || 1;
  return targets.map(target => target / sum);
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

function toImportance(samples: readonly Sample[], sizing: number): number[] {
  const sizes = new Map<string, number>();
  for (const { group } of samples) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return samples.map(({ group }) => (sizes.get(group) ?? 1) ** -sizing);
}

function regress({ inputs, targets, importance, count, features, recipe }: Course): Float32Array {
  const weights = new Float32Array(features * count);
  const squares = new Float32Array(weights.length).fill(1e-8);
  const random = toRandom(7);
  const order = inputs.map((_, i) => i);
  for (let pass = 0; pass < recipe.passes; pass += 1) {
    shuffle(order, random);
    for (const place of order) {
      const { numbers = new Int32Array(), values = new Float32Array() } = inputs[place] ?? {};
      const errors = scoreNumbered(weights, { numbers, values }, count);
      toSoftmax(errors);
      targets[place]?.forEach((target, k) => add(errors, k, -target));
      const share = importance[place] ?? 0;
      for (let i = 0; i < numbers.length; i += 1) {
        const factor = (values[i] ?? 0) * share;
        const from = (numbers[i] ?? 0) * count;
        for (let k = 0; k < count; k += 1) {
          const at = from + k;
          const weight = weights[at] ?? 0;
          const slope = (errors[k] ?? 0) * factor + recipe.decay * share * weight;
          const square = (squares[at] ?? 0) + slope * slope;
          squares[at] = square;
          weights[at] = weight - (recipe.rate * slope) / Math.sqrt(square);
        }
      }
    }
  }
  return weights;
}

function toSoftmax(scores: Float32Array): void {
  const most = Math.max(...scores);
  let sum = 0;
  for (let k = 0; k < scores.length; k += 1) {
    const power = Math.exp((scores[k] ?? 0) - most);
    scores[k] = power;
    sum += power;
  }
  for (let k = 0; k < scores.length; k += 1) scores[k] = (scores[k] ?? 0) / sum;
}

function shuffle(order: number[], random: () => number): void {
  for (let i = order.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
  }
}

/** For each skill the mean direction of its tools' terms. */
function toCentroids({ inputs, targets, count, features }: Course): Float32Array {
  const last = features - 1;
  const first = last - ALL_BUCKETS;
  const centroids = new Float32Array(features * count);
  inputs.forEach(({ numbers, values }, place) => {
    targets[place]?.forEach((target, label) => {
      if (target === 0) return;
      numbers.forEach((number, i) => {
        if (number >= first && number < last)
          add(centroids, number * count + label, target * (values[i] ?? 0));
      });
    });
  });
  const squares = new Float64Array(count);
  centroids.forEach((value, i) => add(squares, i % count, value * value));
  return centroids.map((value, i) => value / (Math.sqrt(squares[i % count] ?? 0) || 1));
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

/** Returns the scores of a sample with trained weights. */
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

/** Returns the slope and offset that turn scores into likelihoods (Newton's method on the log loss). */
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
