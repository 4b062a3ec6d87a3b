/**
 * How long the dialler waits before it dials again: 0.2 s, doubling up to 5 s, each randomised between half of that and all of it. With the
 * dial and the gateway's check, a machine is back within 10 s of the gateway, however long the gateway was away.
 */

const FIRST_MS = 200;
const MOST_MS = 5_000;
/** After a connection that lived this long, waits start from the shortest again. */
const GOOD_MS = 10_000;

export interface Backoff {
  /**
   * @param livedMs how long the connection that just ended was up; 0 where there was none
   * @returns milliseconds to wait
   */
  next(livedMs: number): number;
}

/** @param random uniform in [0, 1); keeps many connectors from reconnecting at the same moment */
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
