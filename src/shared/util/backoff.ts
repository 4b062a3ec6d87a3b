/** Backoff: when failed work is retried. Pure. */

const FIRST_MS = 30_000;
const MAX_MS = 3_600_000;

/**
 * How long to wait, in milliseconds: doubles from half a minute up to an hour, and is never less than `leastMs`.
 * @param failures consecutive failures, the latest included
 */
export const toPutOffMs = (failures: number, leastMs: number): number =>
  Math.max(leastMs, Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), MAX_MS));

const FIRST_REST_MS = 1_000;
const MAX_REST_MS = 60_000;

/** How long no retry is made, in milliseconds: doubles from a second up to a minute. @param failures consecutive failures */
export const toRestMs = (failures: number): number =>
  failures === 0 ? 0 : Math.min(FIRST_REST_MS * 2 ** Math.min(failures - 1, 20), MAX_REST_MS);
