/**
 * Keeps a class from being predicted for more tools than it belongs to: an offset for each skill, found on tools that were not trained on.
 * Where scores say little, the commonest class would win everywhere, because it is the safest guess.
 */
import { ranked } from './measure.ts';

/** A class is predicted first for at most this multiple of its share of first labels… */
const TIMES = 1.25;
/** …and for at most this share of all tools, whatever its share is. */
const MOST = 0.16;
/** What a rare class is allowed in any case. */
const LEAST = 0.02;
const STEPS = 400;
/** A class is lowered by this fraction of the standard deviation of all scores at a time. */
const STEP = 0.01;

/**
 * Lowers each class that is predicted first too often, until none is.
 * @param scores of tools that were not trained on
 * @param shares for each skill the share of tools whose first label it is
 * @returns the offset to add to each skill's score, 0 or less
 */
export function toOffsets(
  scores: readonly Float32Array[],
  shares: readonly number[],
): Float32Array {
  const offsets = new Float32Array(shares.length);
  const step = STEP * toSpread(scores);
  for (let i = 0; i < STEPS; i += 1) {
    const counts = new Float64Array(shares.length);
    for (const one of scores) {
      const [first = 0] = ranked(withOffsets(one, offsets));
      counts[first] = (counts[first] ?? 0) + 1;
    }
    const isOver = (k: number) =>
      (counts[k] ?? 0) / scores.length > Math.min(MOST, Math.max(LEAST, TIMES * (shares[k] ?? 0)));
    const over = [...offsets.keys()].filter(isOver);
    if (over.length === 0) return offsets;
    for (const k of over) offsets[k] = (offsets[k] ?? 0) - step;
  }
  return offsets;
}

/** Returns scores with the offsets added. */
export const withOffsets = (scores: Float32Array, offsets: Float32Array): Float32Array =>
  scores.map((score, k) => score + (offsets[k] ?? 0));

/** For each skill the share of tools whose first label it is. */
export function toShares(labels: readonly (readonly number[])[], count: number): number[] {
  const counts = Array.from({ length: count }, () => 0);
  for (const [first = 0] of labels) counts[first] = (counts[first] ?? 0) + 1;
  return counts.map(times => times / labels.length);
}

function toSpread(scores: readonly Float32Array[]): number {
  const all = scores.flatMap(one => [...one]);
  const mean = all.reduce((sum, score) => sum + score, 0) / all.length;
  return Math.sqrt(all.reduce((sum, score) => sum + (score - mean) ** 2, 0) / all.length);
}
