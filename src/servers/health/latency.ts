/** Latencies as a small histogram: counts that add up, and quantiles read off them. Pure. */

/** Upper bounds of the buckets, in milliseconds; one more bucket holds what is longer. */
export const BOUNDS_MS: readonly number[] = [
  5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
];

/** Counts by bucket. */
export type Histogram = readonly number[];

export const NO_LATENCIES: Histogram = Array.from({ length: BOUNDS_MS.length + 1 }, () => 0);

/** The bucket of a latency. */
export function bucketOf(latencyMs: number): number {
  const at = BOUNDS_MS.findIndex(bound => latencyMs <= bound);
  return at === -1 ? BOUNDS_MS.length : at;
}

export function addHistograms(a: Histogram, b: Histogram): Histogram {
  return a.map((count, i) => count + (b[i] ?? 0));
}

/**
 * The latency below which a share of them lies, in milliseconds, straight through its bucket; the highest bound for what is
 * longer; null where there are none.
 */
export function quantile(histogram: Histogram, share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [i, count] of histogram.entries()) {
    const upper = BOUNDS_MS[i];
    if (upper === undefined) break;
    if (count > 0 && below + count >= rank) {
      const lower = BOUNDS_MS[i - 1] ?? 0;
      return lower + ((upper - lower) * Math.max(0, rank - below)) / count;
    }
    below += count;
  }
  return BOUNDS_MS.at(-1) ?? null;
}
