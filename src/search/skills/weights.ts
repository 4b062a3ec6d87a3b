/**
 * The trained half of the embedded classifier: one linear score for each skill of the default taxonomy, over the features of a tool. The
 * file (`pages/search/skills.bin`) is written by `bench/skills/main.ts --write` and used without parsing, except for its head. Pure.
 *
 * File, little-endian: `SKIL`, version, id of the embedding it was made with, length of the head (32 bits each); the head, JSON padded with
 * spaces to a multiple of four; a 32-bit float for each skill; a byte for each bucket of terms, its rarity; for each feature a signed byte
 * for each skill, which times the skill's float is the weight.
 */
import { z } from 'zod';
import { BUCKETS, type Features } from './features.ts';

export const WEIGHTS_MAGIC = 0x4c494b53;
export const WEIGHTS_VERSION = 2;
const HEADER_BYTES = 16;

/** Turns a score into the confidence that the skill is the tool's first: the logistic function of `slope * score + offset`. */
const CalibrationSchema = z.object({ slope: z.number(), offset: z.number() });
export type Calibration = z.infer<typeof CalibrationSchema>;
/** One for servers with a description in the registry, one for servers with only a name. */
const CalibrationsSchema = z.object({ described: CalibrationSchema, bare: CalibrationSchema });
export type Calibrations = z.infer<typeof CalibrationsSchema>;

const HeadSchema = z.object({
  skills: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .min(1)
    .max(1_000),
  /** For each skill, the share of tools that have it as their first. */
  shares: z.array(z.number().min(0).max(1)),
  /** For each skill, what is added to its score, so that no skill is predicted for more tools than have it. */
  offsets: z.object({ described: z.array(z.number()), bare: z.array(z.number()) }),
  /** For the scores of trained skills, as logarithms of their shares. */
  trained: CalibrationsSchema,
  /** For the nearness of a tool to the vector of a skill that was not trained. */
  nearness: CalibrationsSchema,
});
export type WeightsHead = z.infer<typeof HeadSchema>;

export interface Weights extends WeightsHead {
  embeddingId: number;
  /** Returns how likely each skill is the tool's first, in the order of the head. */
  confidencesOf(features: Features, known: keyof Calibrations): Float32Array;
}

/** The vectors among the features, and their weights. */
const VECTORS = [
  ['own', 1],
  ['name', 0.5],
  ['server', 1],
] as const;
/** Number of buckets: those of tools, then those of servers. */
export const ALL_BUCKETS = 2 * BUCKETS;
/** Rarity of a bucket's terms as a byte: this many steps per unit. */
export const RARITY_STEPS = 24;

/** Number of features for vectors of this length. */
export const featureCount = (dimensions: number): number =>
  VECTORS.length * dimensions + ALL_BUCKETS + 1;

/** A tool's features as pairs of feature number and value. */
export interface Numbered {
  numbers: Int32Array;
  values: Float32Array;
}

/** Numbers a tool's features. @param rarity of each bucket, as bytes */
export function toNumbered(features: Features, rarity: Uint8Array, dimensions: number): Numbered {
  const { terms, serverTerms } = features;
  const size = VECTORS.length * dimensions + terms.length + serverTerms.length + 1;
  const numbers = new Int32Array(size);
  const values = new Float32Array(size);
  let at = 0;
  const add = (number: number, value: number) => {
    numbers[at] = number;
    values[at] = value;
    at += 1;
  };
  VECTORS.forEach(([key, strength], group) => {
    const vector = features[key];
    for (let i = 0; i < dimensions; i += 1) {
      add(group * dimensions + i, (vector[i] ?? 0) * strength);
    }
  });
  const first = VECTORS.length * dimensions;
  [terms, serverTerms].forEach((buckets, side) => {
    const rarityOf = (bucket: number) => rarity[side * BUCKETS + bucket] ?? 0;
    const length = Math.hypot(...buckets.map(rarityOf)) || 1;
    for (const bucket of buckets) add(first + side * BUCKETS + bucket, rarityOf(bucket) / length);
  });
  add(first + ALL_BUCKETS, 1);
  return { numbers, values };
}

/** Reads the file. @param dimensions of the embedding's vectors @throws Error where it is malformed */
export function readWeights(bytes: ArrayBuffer, dimensions: number): Weights {
  const [magic, version, embeddingId = 0, headBytes = 0] = new Uint32Array(
    bytes.slice(0, HEADER_BYTES),
  );
  if (magic !== WEIGHTS_MAGIC || version !== WEIGHTS_VERSION) {
    throw new Error('the weights are malformed or of another version');
  }
  const text = new TextDecoder().decode(new Uint8Array(bytes, HEADER_BYTES, headBytes));
  const head = HeadSchema.parse(JSON.parse(text));
  const count = head.skills.length;
  const at = HEADER_BYTES + headBytes;
  const scales = new Float32Array(bytes, at, count);
  const rarity = new Uint8Array(bytes, at + 4 * count, ALL_BUCKETS);
  const rows = new Int8Array(bytes, at + 4 * count + ALL_BUCKETS);
  if (rows.length !== count * featureCount(dimensions)) {
    throw new Error('the weights are for another embedding');
  }
  return {
    ...head,
    embeddingId,
    confidencesOf(features, known) {
      const sums = new Float32Array(count);
      const { numbers, values } = toNumbered(features, rarity, dimensions);
      numbers.forEach((feature, place) => {
        const value = values[place] ?? 0;
        const from = feature * count;
        for (let i = 0; i < count; i += 1) sums[i] = (sums[i] ?? 0) + value * (rows[from + i] ?? 0);
      });
      const scores = sums.map((sum, i) => sum * (scales[i] ?? 0));
      return toLogShares(scores, head.offsets[known]).map(share =>
        toLikelihood(head.trained[known], share),
      );
    },
  };
}

/** Adds the offsets to the scores and normalises over all skills: log-softmax. */
export function toLogShares(scores: Float32Array, offsets: ArrayLike<number>): Float32Array {
  const moved = scores.map((score, k) => score + (offsets[k] ?? 0));
  const most = moved.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = moved.reduce((total, score) => total + Math.exp(score - most), 0);
  const whole = most + Math.log(sum);
  return moved.map(score => score - whole);
}

/** Encodes the weights as a file. @param weights for each feature the weight of each skill */
export function toWeightsFile(
  head: WeightsHead,
  embeddingId: number,
  rarity: Uint8Array,
  weights: Float32Array,
): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify(head);
  const encoded = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 4) * 4));
  const count = head.skills.length;
  const scales = new Float32Array(count);
  weights.forEach((weight, i) => {
    scales[i % count] = Math.max(scales[i % count] ?? 0, Math.abs(weight) / 127);
  });
  const rows = Int8Array.from(weights, (weight, i) =>
    Math.round(weight / (scales[i % count] || 1)),
  );
  const header = Uint32Array.of(WEIGHTS_MAGIC, WEIGHTS_VERSION, embeddingId, encoded.length);
  const parts = [header, encoded, scales, rarity, rows].map(
    ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
  );
  const file = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

/** Converts a score to a confidence, 0 to 1. */
export function toLikelihood({ slope, offset }: Calibration, score: number): number {
  return 1 / (1 + Math.exp(-(slope * score + offset)));
}
