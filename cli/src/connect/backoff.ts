/**
 * How long the dialler waits before it dials again: 0.2 s, doubling to 5 s, each between half of that and all of it. With the dial
 * and the gateway's look a machine is back within 10 s of the gateway, however long that was away.
 */

const FIRST_MS = 200;
const MOST_MS = 5_000;
/** A connection that lived this long was a good one: the next wait is short again. */
const GOOD_MS = 10_000;

export interface Backoff {
  /**
   * @param livedMs how long the connection was up that just ended; 0 where there was none
   * @returns milliseconds to wait
   */
  next(livedMs: number): number;
}

/** @param random uniform in [0, 1); what keeps many connectors from coming back in step */
export function createBackoff(random: () => number): Backoff {
  let failures = 0;
  return {
    next(livedMs) {
      if (livedMs >= GOOD_MS) failures = 0;
      const most = Math.min(MOST_MS, FIRST_MS * 2 ** failures);
      if (most < MOST_MS) failures += 1;
      return Math.round(most * (0.5 + random() / 2));
    },
  };
}
