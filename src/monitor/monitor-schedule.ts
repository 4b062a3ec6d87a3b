/**
 * When a server is checked or discovered next. The longer nothing has happened at it, the rarer that is: a check is late by at most a
 * tenth of the quiet time before it.
 */
import type { Pace } from '../servers/health/health-settings.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** The wait is this fraction (1/10) of the quiet time. */
const QUIET_PARTS = 10;
/** An alarm that is late by at most this is on time, in milliseconds. */
const ON_TIME_MS = 5_000;
const MAX_PUT_OFF_MS = 60_000;

/** Interval after a quiet time, in milliseconds. */
function paceMs({ intervalMs, quietMs }: Pace, quietForMs: number): number {
  return Math.min(Math.max(intervalMs, quietForMs / QUIET_PARTS), quietMs);
}

/**
 * Returns the milliseconds until the next time. Without failures: the interval after that quiet time, with a tenth of jitter. Otherwise:
 * doubling from a second up to the interval or a minute, whichever is less, or up to a tenth of the quiet time if that is more; jitter
 * takes off up to half.
 * @param quietForMs time since anything happened at the server
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
 * Returns the milliseconds by which to postpone a late alarm. After the gateway stood still, all alarms are due at once, and requests would
 * wait for the checks of every server, so the alarms are spread over a tenth of that time, at most a minute.
 * @param lateMs time since it was due
 * @param random uniform in [0, 1)
 */
export function decidePutOffMs(lateMs: number, random: number): number {
  if (lateMs <= ON_TIME_MS) return 0;
  return Math.round(Math.min(lateMs / QUIET_PARTS, MAX_PUT_OFF_MS) * random);
}

/** A server that announces a change is not discovered again before this time has passed since the last check cycle, in milliseconds. */
const WAKE_GAP_MS = 200;
/** Discoveries that a server may cause in a row, and the time after which it may cause another, in milliseconds. */
const MOST_WOKEN = 30;
const WOKEN_MS = 10_000;

/**
 * Decides when a server that announces a change is discovered: soon, but rarely if it never stops. Each discovery may write each of its
 * tools.
 */
export class WakePace {
  #endedAt = 0;
  #isWoken = false;
  /** The discoveries that the server caused, one after the other, last until then. */
  #spreadTo = 0;

  /** Returns when the server is discovered, as it announces a change now. */
  next(now: number): number {
    this.#isWoken = true;
    return Math.max(now, this.#endedAt + WAKE_GAP_MS, this.#spreadTo - MOST_WOKEN * WOKEN_MS);
  }

  /** A check cycle has ended. */
  ended(now: number): void {
    this.#endedAt = now;
    if (this.#isWoken) this.#spreadTo = Math.max(this.#spreadTo, now) + WOKEN_MS;
    this.#isWoken = false;
  }
}
