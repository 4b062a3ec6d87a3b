/** Decides which results may be cached, reads cached ones, and adds a note about the cache to results. Pure. */
import { taskFormOf } from '../../upstream/protocol/message.ts';
import { fromRawMembers, rawMembers } from '../../shared/json/json-spans.ts';
import { isObject } from '../../shared/protocol.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import { CACHE_META } from './cache-control.ts';

type GoodResponse = Extract<RawResponse, { result: string }>;

/** Whether a response may answer other calls too: a complete result that is no error, no request for input and no task. */
export function isKeepable(response: RawResponse, maxBytes: number): response is GoodResponse {
  if (!('result' in response)) return false;
  const { resultType, isError } = response.parsed;
  if (isError === true || (resultType !== undefined && resultType !== 'complete')) return false;
  if (taskFormOf(response.parsed) !== undefined) return false;
  return (
    response.result.length <= maxBytes &&
    new TextEncoder().encode(response.result).byteLength <= maxBytes
  );
}

/** Returns a cached result as a response; undefined if it is not a JSON object. */
export function toResponse(result: string): GoodResponse | undefined {
  const parsed: unknown = JSON.parse(result);
  return isObject(parsed) ? { kind: 'response', result, parsed } : undefined;
}

/** What a result says about the cache. */
export interface CacheNote {
  hit: boolean;
  /** Time since its call was made; only in a hit. */
  age_ms?: number;
  /** How old a result may get. */
  ttl_ms: number;
}

/** Returns the response with a note in its `_meta`; every other byte stays as it was. */
export function withNote(response: GoodResponse, note: CacheNote): GoodResponse {
  const members = rawMembers(response.result);
  const own = members.get('_meta');
  const meta = own?.startsWith('{') ? rawMembers(own) : new Map<string, string>();
  meta.set(CACHE_META, JSON.stringify(note));
  return {
    ...response,
    result: fromRawMembers(members.set('_meta', fromRawMembers(meta))),
    parsed: {
      ...response.parsed,
      _meta: {
        ...(isObject(response.parsed['_meta']) ? response.parsed['_meta'] : {}),
        [CACHE_META]: note,
      },
    },
  };
}
