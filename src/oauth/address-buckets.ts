/**
 * How often an address may ask for what costs a row, before anybody knows who it is. An isolate counts for itself: it keeps one from
 * filling a table, and is no quota.
 */
import { refill, type Bucket, type Limit } from '../audit/limits/token-bucket.ts';
import { Lru } from '../shared/util/lru.ts';

const MAX_ADDRESSES = 1_000;
/** Of one address; and of all those together that the platform does not tell apart, as on one machine. */
const OF_ADDRESS: Limit = { perMinute: 30, burst: 30 };
const OF_UNKNOWN: Limit = { perMinute: 300, burst: 300 };
/** What one site has of IPv6 addresses. */
const IPV6_GROUPS = 4;

export class AddressBuckets {
  readonly #buckets = new Lru<string, Bucket>(MAX_ADDRESSES);

  /** Count a request of its address. @param now milliseconds since the epoch @returns whether it may */
  take({ headers }: Request, now: number): boolean {
    const address = headers.get('cf-connecting-ip');
    const [key, limit] = address === null ? ['', OF_UNKNOWN] : [siteOf(address), OF_ADDRESS];
    const { tokens, countedTo } = refill(this.#buckets.get(key), limit, now) ?? {
      tokens: limit.burst,
      countedTo: now,
    };
    if (tokens < 1) return false;
    this.#buckets.set(key, { tokens: tokens - 1, countedTo });
    return true;
  }
}

const siteOf = (address: string): string =>
  address.includes(':') ? address.split(':').slice(0, IPV6_GROUPS).join(':') : address;
