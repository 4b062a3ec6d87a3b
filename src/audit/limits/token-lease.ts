/**
 * Token leases: an isolate draws tokens for the calls that wait in it, and some more for calls to come, which it may spend for a few
 * seconds and gives back where it did not. Pure: what the principal's object does with its buckets.
 *
 * Invariants: a token is drawn from every bucket of a call or from none; a lease never outlives the step of a bucket in which it was
 * drawn, so tokens in hand and tokens of the bucket are never more than its burst; tokens for calls to come are a small part of what is
 * left, and none of a full bucket that no call draws on.
 */
import {
  fullBucket,
  nextStepAt,
  refill,
  type Bucket,
  type Limit,
  type NamedLimit,
} from './token-bucket.ts';

/** What an isolate asks for. */
export interface LeaseRequest {
  /** UUID; the same where it asks again because it did not hear the answer. */
  id: string;
  /** Buckets of which each call takes a token. */
  limits: readonly NamedLimit[];
  /** Calls that wait for a token. */
  waiting: number;
  /** Tokens for the calls that may come while a lease lasts. */
  ahead: number;
}

/** What it gets. */
export interface Lease {
  /** How many of the waiting calls may leave. */
  passed: number;
  /** Tokens for calls to come. */
  spare: number;
  /** How long those may be spent, in milliseconds from when the lease was asked for. */
  lastsMs: number;
  /** There where a waiting call may not leave: until there may be a token in each bucket, in milliseconds. */
  retryAfterMs?: number;
}

/** How long an isolate may hold tokens, in milliseconds; so long a call may be refused though others hold some. */
export const HOLD_MS = 5_000;
/** Tokens for calls to come are this part of what is left at most: of few tokens none. */
const SHARE = 8;

/**
 * Draw a lease.
 * @param held the buckets of the limits, as they were left; undefined where one is full
 * @returns the buckets as they are then
 */
export function drawLease(
  held: readonly (Bucket | undefined)[],
  { limits, waiting, ahead }: Omit<LeaseRequest, 'id'>,
  now: number,
): { buckets: Bucket[]; lease: Lease } {
  const open = limits.map((limit, n) => refill(held[n], limit, now));
  const buckets = limits.map((limit, n) => open[n] ?? fullBucket(limit, now));
  const most = Math.max(0, Math.floor(Math.min(...buckets.map(({ tokens }) => tokens))));
  const passed = Math.min(waiting, most);
  // The step of a full bucket begins with a call.
  const isBegun = passed > 0 || !open.includes(undefined);
  const spare = isBegun ? Math.min(ahead, Math.floor((most - passed) / SHARE)) : 0;
  const waits = limits.map((limit, n) => nextStepAt(buckets[n] as Bucket, limit) - now);
  const lease = { passed, spare, lastsMs: Math.min(HOLD_MS, ...waits) };
  const empty = waits.filter((_, n) => (buckets[n] as Bucket).tokens - passed < 1);
  const drawn = buckets.map(each => ({ ...each, tokens: each.tokens - passed - spare }));
  if (passed === waiting) return { buckets: drawn, lease };
  return { buckets: drawn, lease: { ...lease, retryAfterMs: Math.max(...empty) } };
}

/**
 * Put back tokens that were not spent.
 * @param countedTo of the bucket when they were drawn
 * @returns undefined where nothing changes: the bucket has had its tokens back, as its next step came
 */
export function putBack(
  bucket: Bucket | undefined,
  limit: Limit,
  countedTo: number,
  tokens: number,
  now: number,
): Bucket | undefined {
  const current = refill(bucket, limit, now);
  if (current?.countedTo !== countedTo) return undefined;
  return { ...current, tokens: Math.min(limit.burst, current.tokens + tokens) };
}
