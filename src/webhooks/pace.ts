/** When an event that was not taken is sent again. Pure. */

/** Waits after the first failures, in milliseconds; the last one stays. */
const WAITS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000];
/** Each wait is up to this share longer, so that receivers are not asked by all at once. */
const JITTER = 0.2;

/** How long an event is tried, in milliseconds; one that is sent again by hand is tried as long. */
export const GIVE_UP_MS = 86_400_000;

/** What is known of a try that failed; times in milliseconds since the epoch. */
interface Failure {
  /** Tries until now, this one included. */
  attempts: number;
  giveUpAt: number;
  /** How long the receiver wants to be left alone, in milliseconds. */
  retryAfterMs: number;
}

/**
 * When to try again, the last time exactly when it is given up; undefined: never.
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
