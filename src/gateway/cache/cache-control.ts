/**
 * Parses a caller's cache directive: the words of `Cache-Control` (RFC 9111, §5.2.1), sent as a request header or under a key of the
 * request's `_meta`. Pure.
 */
import { isObject } from '../../shared/protocol.ts';

/** `fresh`: make the call and store its result; `none`: make the call and store nothing. */
export type CacheDirective = 'fresh' | 'none';

/** Key of `_meta`: in a request it carries the cache directive, in a result it says what the cache did. */
export const CACHE_META = 'portico/cache';

/** Returns the cache directive of a `Cache-Control` header. */
export function directiveOfHeader(header: string | null | undefined): CacheDirective | undefined {
  if (!header || header.length > 1_024) return undefined;
  const words = header.split(',').map(word => word.trim().toLowerCase());
  if (words.includes('no-store')) return 'none';
  return words.includes('no-cache') || words.includes('max-age=0') ? 'fresh' : undefined;
}

/** Returns the cache directive in the params of a request. */
export function directiveOfMeta(params: unknown): CacheDirective | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  const said = isObject(meta) ? meta[CACHE_META] : undefined;
  return typeof said === 'string' ? directiveOfHeader(said) : undefined;
}
