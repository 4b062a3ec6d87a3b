/** When a server that announces changes is discovered. */
import { expect, it } from 'vitest';
import { WakePace } from '../../../src/monitor/monitor-schedule.ts';

const CYCLE_MS = 50;
const DAY_MS = 86_400_000;

/** Announces a change after each discovery. @returns the times of the discoveries */
function announce(pace: WakePace, from: number, until: number, restMs = 0): number[] {
  const discovered: number[] = [];
  for (let now = from; ;) {
    now = pace.next(now);
    if (now >= until) return discovered;
    discovered.push(now);
    now += CYCLE_MS;
    pace.ended(now);
    now += restMs;
  }
}

it('[REG-4] [MCP-12] is at once, or soon after the last check', () => {
  const pace = new WakePace();
  expect(pace.next(1_000_000)).toBe(1_000_000);
  pace.ended(1_000_050);
  expect(pace.next(1_000_060)).toBe(1_000_250);
});

it('[SEC-9] is every ten seconds at most for a server that never stops', () => {
  const times = announce(new WakePace(), DAY_MS, 2 * DAY_MS);
  expect(times[29] ?? Infinity).toBeLessThan(DAY_MS + 10_000);
  expect(times.length).toBeLessThanOrEqual(31 + DAY_MS / 10_000);
});

it('[REG-4] [MCP-12] is always at once for a server that changes every quarter of a minute', () => {
  const pace = new WakePace();
  const times = announce(pace, DAY_MS, DAY_MS + 6_000_000, 15_000);
  expect(times.slice(1).map((time, i) => time - (times[i] ?? 0))).toEqual(
    times.slice(1).map(() => CYCLE_MS + 15_000),
  );
});

it('[REG-4] checks that the server did not cause count for nothing', () => {
  const pace = new WakePace();
  for (let n = 0; n < 1_000; n += 1) pace.ended(DAY_MS + n);
  expect(pace.next(DAY_MS + 2_000)).toBe(DAY_MS + 2_000);
});
