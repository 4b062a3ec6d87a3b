/** When a server is checked or looked at next. */
import { describe, expect, it } from 'vitest';
import { decideDelayMs } from '../../../src/monitor/monitor-schedule.ts';
import { createRandom, SEED } from '../seeded.ts';

const INTERVAL_MS = 30_000;

describe('decideDelayMs', () => {
  it('[REG-5] keeps to the interval while all is well, give or take a tenth', () => {
    expect(decideDelayMs(0, INTERVAL_MS, 0)).toBe(27_000);
    expect(decideDelayMs(0, INTERVAL_MS, 0.5)).toBe(30_000);
    expect(decideDelayMs(0, INTERVAL_MS, 1)).toBe(33_000);
  });

  it('[UP-5] doubles from a second up to the interval', () => {
    const latest = [1, 2, 3, 4, 5, 6, 7, 100, 1e9].map(failures =>
      decideDelayMs(failures, INTERVAL_MS, 1),
    );
    expect(latest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  });

  it('[UP-5] comes back within a minute, however long the interval is', () => {
    expect(decideDelayMs(30, 3_600_000, 1)).toBe(60_000);
  });

  it(`[UP-5] takes off half at most and never waits longer than the interval (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 2_000; round += 1) {
      const failures = 1 + random.below(50);
      const intervalMs = 1 + random.below(120_000);
      const latest = decideDelayMs(failures, intervalMs, 1);
      const drawn = decideDelayMs(failures, intervalMs, random.next());
      expect(drawn).toBeGreaterThanOrEqual(Math.floor(latest / 2));
      expect(drawn).toBeLessThanOrEqual(latest);
      expect(latest).toBeLessThanOrEqual(intervalMs);
    }
  });
});
