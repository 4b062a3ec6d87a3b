/** When work that failed is tried again. Pure. */

const FIRST_MS = 30_000;
const MAX_MS = 3_600_000;

/**
 * How long to wait, in milliseconds: doubling from half a minute up to an hour, and never less than was asked for.
 * @param failures one after the other, the last included
 */
export const toPutOffMs = (failures: number, leastMs: number): number =>
  Math.max(leastMs, Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), MAX_MS));

const FIRST_REST_MS = 1_000;
const MAX_REST_MS = 60_000;

/** How long nobody tries again, in milliseconds: doubling from a second up to a minute. @param failures one after the other */
export const toRestMs = (failures: number): number =>
  failures === 0 ? 0 : Math.min(FIRST_REST_MS * 2 ** Math.min(failures - 1, 20), MAX_REST_MS);
