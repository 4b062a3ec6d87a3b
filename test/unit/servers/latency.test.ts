/** Histograms of latencies and sums of calls: additions, whatever the order. */
import { describe, expect, it } from 'vitest';
import {
  addHistograms,
  bucketOf,
  BOUNDS_MS,
  NO_LATENCIES,
  quantile,
  type CallSums,
} from '../../../src/servers/health/call-report.ts';
import {
  addSums,
  averageMsOf,
  errorRateOf,
  isElevated,
  mainReason,
  NO_CALLS,
  toWindowView,
} from '../../../src/servers/health/windows.ts';
import { createRandom, SEED } from '../seeded.ts';

const histogramOf = (...latencies: number[]) =>
  latencies.reduce<readonly number[]>(
    (sum, ms) => sum.map((count, i) => (i === bucketOf(ms) ? count + 1 : count)),
    NO_LATENCIES,
  );

describe('quantile', () => {
  it('[AG-US5-AC7] is null for no latencies', () => {
    expect(quantile(NO_LATENCIES, 0.5)).toBeNull();
  });

  it('[AG-US5-AC7] lies in the bucket of its latency', () => {
    const histogram = histogramOf(3, 3, 3, 80, 4_000);
    expect(quantile(histogram, 0.5)).toBeLessThanOrEqual(5);
    expect(quantile(histogram, 0.8)).toBe(100);
    expect(quantile(histogram, 0.99)).toBeGreaterThan(2_500);
    expect(quantile(histogramOf(60_000), 0.5)).toBe(30_000);
  });

  it(`[AG-US5-AC7] grows with its share and stays in the bucket of the true one (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 300; round += 1) {
      const latencies = Array.from({ length: 1 + random.below(60) }, () => random.below(30_000));
      const histogram = histogramOf(...latencies);
      const shares = [0.01, 0.25, 0.5, 0.75, 0.95, 1];
      const found = shares.map(share => quantile(histogram, share) ?? Number.NaN);
      expect(found).toEqual(found.toSorted((a, b) => a - b));
      const sorted = latencies.toSorted((a, b) => a - b);
      for (const [i, share] of shares.entries()) {
        const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
        const upper = BOUNDS_MS[bucketOf(exact)] ?? Number.NaN;
        const lower = BOUNDS_MS[bucketOf(exact) - 1] ?? 0;
        expect(found[i]).toBeGreaterThanOrEqual(lower);
        expect(found[i]).toBeLessThanOrEqual(upper);
      }
    }
  });
});

describe('sums', () => {
  const sums = (calls: number, errors: number, reasons: Record<string, number> = {}): CallSums => ({
    ...NO_CALLS,
    calls,
    errors,
    reasons,
  });

  it('[AG-US5-AC7] add up, in any order', () => {
    const a = { ...sums(3, 1, { x: 1 }), totalMs: 20, latencies: histogramOf(10, 10) };
    const b = { ...sums(2, 2, { x: 1, y: 1 }), totalMs: 0 };
    expect(addSums(a, b)).toEqual(addSums(b, a));
    expect(addSums(a, b)).toMatchObject({ calls: 5, errors: 3, reasons: { x: 2, y: 1 } });
    expect(addHistograms(a.latencies, a.latencies)).toEqual(histogramOf(10, 10, 10, 10));
    expect(averageMsOf(addSums(a, b))).toBe(10);
    expect(mainReason(addSums(a, b))).toBe('x');
    expect([mainReason(NO_CALLS), averageMsOf(b), errorRateOf(NO_CALLS)]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('[REG-4] have an elevated error rate from the configured share on, with ten calls at least', () => {
    expect(isElevated(sums(9, 9), 0.2)).toBe(false);
    expect(isElevated(sums(10, 1), 0.2)).toBe(false);
    expect(isElevated(sums(10, 2), 0.2)).toBe(true);
    expect(isElevated(sums(100, 49), 0.5)).toBe(false);
    expect(isElevated(sums(100, 100), 1)).toBe(true);
  });

  it('[AG-US5-AC7] are shown as a window', () => {
    const shown = toWindowView({
      ...sums(4, 1, { z: 1 }),
      totalMs: 10,
      latencies: histogramOf(1, 2, 7),
    });
    expect(shown).toEqual({
      calls: 4,
      errors: 1,
      error_rate: 0.25,
      average_ms: 3.33,
      p50_ms: 3.75,
      p95_ms: 9.25,
      reasons: { z: 1 },
    });
  });
});
