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
  take({ headers }: Request, now: number): boolean {
    const address = headers.get('cf-connecting-ip');
    const [key, limit] = address === null ? ['', OF_UNKNOWN] : [toSite(address), OF_ADDRESS];
    const { tokens, countedTo } = refill(this.#buckets.get(key), limit, now) ?? {
      tokens: limit.burst,
      countedTo: now,
    };
    if (tokens < 1) return false;
    this.#buckets.set(key, { tokens: tokens - 1, countedTo });
    return true;
  }
}
