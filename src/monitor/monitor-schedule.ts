/**
 * When a server is checked or looked at next. Pure. The longer nothing has happened at it, the rarer that is: a check that comes late is
 * late by a tenth of the quiet before it at most.
 */
import type { Pace } from '../servers/health/health-settings.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** What is waited is this part of the quiet. */
const QUIET_PARTS = 10;
/** An alarm that is no later than this is on time, in milliseconds. */
const ON_TIME_MS = 5_000;
const MAX_PUT_OFF_MS = 60_000;

/** The interval after so much quiet, in milliseconds. */
function paceMs({ intervalMs, quietMs }: Pace, quietForMs: number): number {
  return Math.min(Math.max(intervalMs, quietForMs / QUIET_PARTS), quietMs);
}

/**
 * Milliseconds until the next time: the interval with a tenth of jitter while all is well, else doubling from a second up to the
 * interval, or a minute where that is less, with up to half taken off.
 * @param quietForMs how long ago anything happened at the server
 * @param random uniform in [0, 1)
 */
export function decideDelayMs(
  failures: number,
  pace: Pace,
  quietForMs: number,
  random: number,
): number {
  if (failures === 0) return Math.round(paceMs(pace, quietForMs) * (0.9 + 0.2 * random));
  const { intervalMs, quietMs } = pace;
  const ceiling = Math.min(
    FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20),
    paceMs({ intervalMs: Math.min(intervalMs, MAX_RETRY_MS), quietMs }, quietForMs),
  );
  return Math.round(ceiling * (0.5 + 0.5 * random));
}

/**
 * Milliseconds by which a late alarm is put off. Where the gateway stood still, all of them are due at once, and requests would wait for
 * the checks of every server: they are spread over a tenth of the time it stood still, a minute at most.
 * @param lateMs how long ago it was due
 * @param random uniform in [0, 1)
 */
export function decidePutOffMs(lateMs: number, random: number): number {
  if (lateMs <= ON_TIME_MS) return 0;
  return Math.round(Math.min(lateMs / QUIET_PARTS, MAX_PUT_OFF_MS) * random);
}
