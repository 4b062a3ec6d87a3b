/** When the next check or discovery of a server is due. */
import { describe, expect, it } from 'vitest';
import { decideDelayMs, decidePutOffMs } from '../../../src/monitor/monitor-schedule.ts';
import { createRandom, SEED } from '../seeded.ts';

const INTERVAL_MS = 30_000;
const always = (intervalMs: number) => ({ intervalMs, quietMs: intervalMs });
const delay = (failures: number, intervalMs: number, random: number) =>
  decideDelayMs(failures, always(intervalMs), 0, random);

describe('decideDelayMs', () => {
  it('[REG-5] keeps to the interval while all is well, plus or minus a tenth', () => {
    expect(delay(0, INTERVAL_MS, 0)).toBe(27_000);
    expect(delay(0, INTERVAL_MS, 0.5)).toBe(30_000);
    expect(delay(0, INTERVAL_MS, 1)).toBe(33_000);
  });

  it('[UP-5] doubles from a second up to the interval', () => {
    const latest = [1, 2, 3, 4, 5, 6, 7, 100, 1e9].map(failures => delay(failures, INTERVAL_MS, 1));
    expect(latest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  });

  it('[UP-5] retries within a minute, however long the interval is', () => {
    expect(delay(30, 3_600_000, 1)).toBe(60_000);
  });

  it(`[UP-5] subtracts half at most and never exceeds the interval (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 2_000; round += 1) {
      const failures = 1 + random.below(50);
      const intervalMs = 1 + random.below(120_000);
      const latest = delay(failures, intervalMs, 1);
      const drawn = delay(failures, intervalMs, random.next());
      expect(drawn).toBeGreaterThanOrEqual(Math.floor(latest / 2));
      expect(drawn).toBeLessThanOrEqual(latest);
      expect(latest).toBeLessThanOrEqual(intervalMs);
    }
  });

  it('[REG-4] [EDGE-2] checks less often while nothing happens, but never less often than configured', () => {
    const pace = { intervalMs: 30_000, quietMs: 300_000 };
    const minutes = [0, 5, 10, 30, 50, 100, 1e9];
    const waits = minutes.map(quiet => decideDelayMs(0, pace, quiet * 60_000, 0.5));
    expect(waits).toEqual([30_000, 30_000, 60_000, 180_000, 300_000, 300_000, 300_000]);
    // A configured interval is kept.
    expect(decideDelayMs(0, always(30_000), 1e12, 0.5)).toBe(30_000);
    // A server that has been down for long is tried as rarely; one that failed a moment ago is not.
    expect(decideDelayMs(30, pace, 1e12, 1)).toBe(300_000);
    expect(decideDelayMs(30, pace, 60_000, 1)).toBe(30_000);
  });
});

describe('decidePutOffMs', () => {
  it('[REG-4] does not delay what is on time, and spreads the rest over a tenth of its delay', () => {
    expect(decidePutOffMs(-20, 0.9)).toBe(0);
    expect(decidePutOffMs(5_000, 0.9)).toBe(0);
    expect(decidePutOffMs(100_000, 0)).toBe(0);
    expect(decidePutOffMs(100_000, 0.5)).toBe(5_000);
    expect(decidePutOffMs(3_600_000, 0.5)).toBe(30_000);
    expect(decidePutOffMs(Infinity, 1)).toBe(60_000);
  });
});
