/**
 * What a caller says of cached results: the words of `Cache-Control` (RFC 9111, §5.2.1), as a header of the request or under a key of its
 * `_meta`. Pure.
 */
import { isObject } from '../../shared/protocol.ts';

/** `fresh`: make the call and keep its result; `none`: make the call and keep nothing. */
export type CacheDirective = 'fresh' | 'none';

/** The key of `_meta`: in a request what is wished, in a result what became of it. */
export const CACHE_META = 'portico/cache';

/** The cache directive of a `Cache-Control` header. */
export function directiveOfHeader(header: string | null | undefined): CacheDirective | undefined {
  if (!header || header.length > 1_024) return undefined;
  const words = header.split(',').map(word => word.trim().toLowerCase());
  if (words.includes('no-store')) return 'none';
  return words.includes('no-cache') || words.includes('max-age=0') ? 'fresh' : undefined;
}

/** The cache directive in the params of a request. */
export function directiveOfMeta(params: unknown): CacheDirective | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  const said = isObject(meta) ? meta[CACHE_META] : undefined;
  return typeof said === 'string' ? directiveOfHeader(said) : undefined;
}
