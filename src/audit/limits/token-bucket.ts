/**
 * Token buckets: how many calls may leave at once, and how many over time. Pure: state and `now` in, state out
 * (`token-lease.ts` draws from them). Tokens come back in steps: each step brings what comes back in a minute, or what
 * fits into the bucket if that is less, and its time is counted from the first call after the bucket was full. So a
 * limit of 100 a minute lets exactly 100 calls pass until a minute after the first of them.
 *
 * Invariants: a bucket never holds more than its burst; over any time it gives no more than its burst and what came
 * back in that time; a clock that goes back gives nothing.
 */
import { DAY_MS, dayOf } from '../../shared/util/utc-day.ts';

/** A limit of calls. */
export interface Limit {
  perMinute: number;
  /** Most calls at once. */
  burst: number;
  /** All tokens come back at midnight (UTC) and none before, whatever the rate is. */
  isDaily?: true;
}

/** A limit and the name of its bucket. */
export interface NamedLimit extends Limit {
  /** Empty for the principal itself, otherwise the id of a server. */
  name: string;
}

/** A bucket that is not full. */
export interface Bucket {
  tokens: number;
  /** Time up to which tokens have come back, in milliseconds since the epoch. */
  countedTo: number;
}

const MINUTE_MS = 60_000;

/** Returns how many tokens come back in one step, and how long the step takes. */
function stepOf({ perMinute, burst, isDaily }: Limit): { tokens: number; ms: number } {
  // Also restores what was spent beyond a burst that was reduced since.
  if (isDaily) return { tokens: Number.MAX_SAFE_INTEGER, ms: DAY_MS };
  const tokens = Math.min(perMinute, burst);
  return { tokens, ms: (MINUTE_MS * tokens) / perMinute };
}

/** Returns a bucket with the tokens that have come back by now; undefined if it is full. */
export function refill(bucket: Bucket | undefined, limit: Limit, now: number): Bucket | undefined {
  if (!bucket) return undefined;
  const step = stepOf(limit);
  // A time in the future was written under another clock.
  const countedTo = Math.min(bucket.countedTo, now);
  const steps = Math.floor((now - countedTo) / step.ms);
  const tokens = bucket.tokens + steps * step.tokens;
  if (tokens >= limit.burst) return undefined;
  return { tokens, countedTo: countedTo + steps * step.ms };
}

/** Returns a full bucket whose step begins now: at a call, or at the start of the day. */
export const fullBucket = ({ burst, isDaily }: Limit, now: number): Bucket => ({
  tokens: burst,
  countedTo: isDaily ? dayOf(now) * DAY_MS : now,
});

/** Returns when the next tokens come back to a refilled bucket, in milliseconds since the epoch. */
export const nextStepAt = ({ countedTo }: Bucket, limit: Limit): number =>
  countedTo + stepOf(limit).ms;
