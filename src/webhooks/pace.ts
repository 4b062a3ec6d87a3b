/** Retry schedule of failed deliveries. Pure. */

/** Waits after the first failures, in milliseconds; the last one repeats. */
const WAITS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000];
/** Each wait is extended by up to this share, so that retries to a receiver are spread out. */
const JITTER = 0.2;

/** How long a delivery is retried, in milliseconds; the same after a manual retry. */
export const GIVE_UP_MS = 86_400_000;

/** A failed attempt; times in milliseconds since the epoch. */
interface Failure {
  /** Attempts so far, including this one. */
  attempts: number;
  giveUpAt: number;
  /** The wait that the receiver asked for, in milliseconds. */
  retryAfterMs: number;
}

/**
 * Returns when to try again, at the latest at the give-up time itself; undefined once that has passed.
 * @param random from 0 to 1
 */
export function decideNextAt(
  { attempts, giveUpAt, retryAfterMs }: Failure,
  now: number,
  random: number,
): number | undefined {
  if (now >= giveUpAt) return undefined;
  const waitMs = WAITS_MS[Math.min(attempts, WAITS_MS.length) - 1] ?? 0;
  const wait = Math.max(waitMs * (1 + JITTER * random), retryAfterMs);
  return Math.min(Math.round(now + wait), giveUpAt);
}
