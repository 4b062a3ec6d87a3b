/**
 * Token leases: an isolate draws tokens for the calls that wait in it, and some spare tokens for calls to come. It may
 * spend these for a few seconds and gives back the rest. Pure: what the principal's object does with its buckets.
 *
 * Invariants: a token is drawn from every bucket of a call or from none; a lease never outlives the step of a bucket in
 * which it was drawn, so the tokens held and those in the bucket never exceed its burst; spare tokens are a small part
 * of what is left, and a full bucket from which no call draws gives none.
 */
import {
  fullBucket,
  nextStepAt,
  refill,
  type Bucket,
  type Limit,
  type NamedLimit,
} from './token-bucket.ts';

/** What an isolate requests. */
export interface LeaseRequest {
  /** UUID; the same if the request is repeated because its response did not arrive. */
  id: string;
  /** The buckets from which each call takes a token. */
  limits: readonly NamedLimit[];
  /** Calls that wait for a token. */
  waiting: number;
  /** Tokens wanted for calls that may come during the lease. */
  ahead: number;
}

/** What the isolate gets. */
export interface Lease {
  /** How many of the waiting calls may leave. */
  passed: number;
  /** Spare tokens, for calls to come. */
  spare: number;
  /** How long the spare tokens may be spent, in milliseconds from the request on. */
  lastsMs: number;
  /** Present if a waiting call may not leave: milliseconds until each bucket may have a token. */
  retryAfterMs?: number;
}

/** How long an isolate may hold tokens, in milliseconds; for that long a call may be refused while other isolates hold some. */
export const HOLD_MS = 5_000;
/** Spare tokens are at most one part in this many of what is left: of few tokens, none. */
const SHARE = 8;

/**
 * Draws a lease.
 * @param held the buckets of the limits, as last stored; undefined where one is full
 * @returns the buckets after the draw, and the lease
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
 * Puts back tokens that were not spent.
 * @param countedTo the bucket's when they were drawn
 * @returns undefined if nothing changes: the bucket's next step came meanwhile and brought its tokens back
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
