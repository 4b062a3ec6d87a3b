/**
 * Token buckets: how many calls one may make at once, and how many over time. Pure: state and `now` in, state out (`token-lease.ts`
 * draws on them). Tokens come back in steps, as many at once as fit into a minute and into the bucket, and a step is counted from the
 * first call after the bucket was full: so a limit of 100 a minute lets exactly 100 calls pass until a minute after the first of them.
 *
 * Invariants: a bucket never holds more than its burst; over any time it gives no more than its burst and what came back in it;
 * a clock that goes back gives nothing.
 */
import { DAY_MS, dayOf } from '../../shared/util/utc-day.ts';

/** A limit of calls. */
export interface Limit {
  perMinute: number;
  /** Most calls at once. */
  burst: number;
  /** All tokens come back at midnight (UTC) and none before, whatever the rate says. */
  isDaily?: true;
}

/** A limit and the bucket it is counted in. */
export interface NamedLimit extends Limit {
  /** Empty for the principal itself, else the id of a server. */
  name: string;
}

/** A bucket that is not full. */
export interface Bucket {
  tokens: number;
  /** Time up to which tokens have come back, in milliseconds since the epoch. */
  countedTo: number;
}

const MINUTE_MS = 60_000;

/** How many tokens come back at once, and how long that takes. */
function stepOf({ perMinute, burst, isDaily }: Limit): { tokens: number; ms: number } {
  // Also what was spent beyond a burst that was made smaller since.
  if (isDaily) return { tokens: Number.MAX_SAFE_INTEGER, ms: DAY_MS };
  const tokens = Math.min(perMinute, burst);
  return { tokens, ms: (MINUTE_MS * tokens) / perMinute };
}

/** A bucket with what has come back by now; undefined where it is full. */
export function refill(bucket: Bucket | undefined, limit: Limit, now: number): Bucket | undefined {
  if (!bucket) return undefined;
  const step = stepOf(limit);
  // A time in the future was written by another clock.
  const countedTo = Math.min(bucket.countedTo, now);
  const steps = Math.floor((now - countedTo) / step.ms);
  const tokens = bucket.tokens + steps * step.tokens;
  if (tokens >= limit.burst) return undefined;
  return { tokens, countedTo: countedTo + steps * step.ms };
}

/** A bucket that is full, when its step begins: with a call, or with the day. */
export const fullBucket = ({ burst, isDaily }: Limit, now: number): Bucket => ({
  tokens: burst,
  countedTo: isDaily ? dayOf(now) * DAY_MS : now,
});

/** When the next tokens come back to a bucket that was refilled, in milliseconds since the epoch. */
export const nextStepAt = ({ countedTo }: Bucket, limit: Limit): number =>
  countedTo + stepOf(limit).ms;
