/** When a server is checked or looked at next. Pure. */

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/**
 * Milliseconds until the next time: the interval with a tenth of jitter while all is well, else doubling from a second up to the
 * interval, or a minute where that is less, with up to half taken off.
 * @param random uniform in [0, 1)
 */
export function decideDelayMs(failures: number, intervalMs: number, random: number): number {
  if (failures === 0) return Math.round(intervalMs * (0.9 + 0.2 * random));
  const ceiling = Math.min(
    FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20),
    MAX_RETRY_MS,
    intervalMs,
  );
  return Math.round(ceiling * (0.5 + 0.5 * random));
}
