/** When a server is looked at next, and what a failure makes of its status. Pure. */
import type { ServerStatus } from '../registry/server-schema.ts';

/** A connected server becomes ERROR at this many failures in a row. */
export const FAILURES_TO_ERROR = 3;
const FIRST_RETRY_MS = 1_000;

/**
 * Milliseconds until the next look: the interval with a tenth of jitter while all is well, else
 * doubling from a second up to the interval, with up to half taken off.
 * @param random uniform in [0, 1)
 */
export function decideDelayMs(failures: number, intervalMs: number, random: number): number {
  if (failures === 0) return Math.round(intervalMs * (0.9 + 0.2 * random));
  const ceiling = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20), intervalMs);
  return Math.round(ceiling * (0.5 + 0.5 * random));
}

/** Status after `failures` failures in a row; a server that never answered is ERROR at once. */
export function decideStatus(wasConnected: boolean, failures: number): ServerStatus {
  return wasConnected && failures < FAILURES_TO_ERROR ? 'CONNECTED' : 'ERROR';
}
