/**
 * The leases of one principal, as its object keeps them: what was drawn for which request, so that a repeated request
 * draws once and a lease is given back once. Kept in memory, beside the stored buckets: if a lease is forgotten, its
 * tokens do not come back before the next step of their bucket.
 */
import { drawLease, HOLD_MS, putBack, type Lease, type LeaseRequest } from './token-lease.ts';
import type { Bucket, NamedLimit } from './token-bucket.ts';

/** Storage of buckets (`bucket-store.ts`). */
export interface Buckets {
  find(limit: NamedLimit): Bucket | undefined;
  put(limit: NamedLimit, bucket: Bucket): void;
}

interface Entry {
  lease: Lease;
  at: number;
  limits: readonly NamedLimit[];
  /** `countedTo` of each bucket. */
  steps: readonly number[];
  /** Tokens that may be given back. */
  left: number;
}

/** How long a lease is remembered after it ended, in milliseconds: longer than an isolate repeats a request or gives tokens back. */
const KNOWN_MS = 10_000;

export class LeaseBook {
  readonly #buckets: Buckets;
  readonly #entries = new Map<string, Entry>();

  constructor(buckets: Buckets) {
    this.#buckets = buckets;
  }

  /** Draws a lease, or repeats what was drawn for this request. */
  draw(request: LeaseRequest, now: number): Lease {
    this.#forget(now);
    const known = this.#entries.get(request.id);
    if (known) return { ...known.lease, lastsMs: known.at + known.lease.lastsMs - now };
    const { lease, steps } = this.#draw(request, now);
    const { limits } = request;
    if (steps) this.#entries.set(request.id, { lease, at: now, limits, steps, left: lease.spare });
    return lease;
  }

  /** Takes a token for one call. @returns milliseconds until there may be one; undefined if it was taken */
  take(limits: readonly NamedLimit[], now: number): number | undefined {
    if (limits.length === 0) return undefined;
    return this.#draw({ limits, waiting: 1, ahead: 0 }, now).lease.retryAfterMs;
  }

  /** Puts back the tokens of a lease that were not spent and never will be. */
  giveBack(id: string, unspent: number, now: number): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    const tokens = Math.max(0, Math.min(unspent, entry.left));
    entry.left = 0;
    entry.limits.forEach((limit, n) => {
      const bucket = this.#buckets.find(limit);
      const back = putBack(bucket, limit, entry.steps[n] as number, tokens, now);
      if (back) this.#buckets.put(limit, back);
    });
  }

  /** @returns the lease, with the steps of the buckets if anything was drawn */
  #draw(request: Omit<LeaseRequest, 'id'>, now: number): { lease: Lease; steps?: number[] } {
    const { limits } = request;
    const held = limits.map(limit => this.#buckets.find(limit));
    const { buckets, lease } = drawLease(held, request, now);
    if (lease.passed + lease.spare === 0) return { lease };
    limits.forEach((limit, n) => this.#buckets.put(limit, buckets[n] as Bucket));
    return { lease, steps: buckets.map(({ countedTo }) => countedTo) };
  }

  #forget(now: number): void {
    for (const [id, { at }] of this.#entries) {
      // The remaining entries are younger.
      if (at + HOLD_MS + KNOWN_MS > now) return;
      this.#entries.delete(id);
    }
  }
}
