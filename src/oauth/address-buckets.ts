/**
 * Rate limits per address for requests that cost a row before the client is known. Each isolate counts for itself, so this keeps one
 * address from filling a table, but is not a quota.
 */
import { refill, type Bucket, type Limit } from '../audit/limits/token-bucket.ts';
import { toSite } from '../http/client-site.ts';
import { Lru } from '../shared/util/lru.ts';

const MAX_ADDRESSES = 1_000;
/** Limit of one address; and of all requests without a client address together, as on one machine. */
const OF_ADDRESS: Limit = { perMinute: 30, burst: 30 };
const OF_UNKNOWN: Limit = { perMinute: 300, burst: 300 };

export class AddressBuckets {
  readonly #buckets = new Lru<string, Bucket>(MAX_ADDRESSES);

  /** Counts a request against its address. @param now milliseconds since the epoch @returns whether the request may proceed */
  take(request: Request, now: number): boolean {
    const { key, bucket } = this.#bucketOf(request, now);
    if (bucket.tokens < 1) return false;
    this.#buckets.set(key, { ...bucket, tokens: bucket.tokens - 1 });
    return true;
  }

  /** Undoes the count of a request that somebody did let in. @param now milliseconds since the epoch */
  giveBack(request: Request, now: number): void {
    const { key, bucket, limit } = this.#bucketOf(request, now);
    const tokens = bucket.tokens + 1;
    if (tokens < limit.burst) this.#buckets.set(key, { ...bucket, tokens });
    else this.#buckets.delete(key);
  }

  #bucketOf({ headers }: Request, now: number) {
    const address = headers.get('cf-connecting-ip');
    const [key, limit] = address === null ? ['', OF_UNKNOWN] : [toSite(address), OF_ADDRESS];
    const full: Bucket = { tokens: limit.burst, countedTo: now };
    return { key, limit, bucket: refill(this.#buckets.get(key), limit, now) ?? full };
  }
}
