/** Results on their way into the cache and out of it: which may be kept, and how one tells where it comes from. Pure. */
import { taskFormOf } from '../../upstream/protocol/message.ts';
import { fromRawMembers, rawMembers } from '../../shared/json/json-spans.ts';
import { isObject } from '../../shared/protocol.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import { CACHE_META } from './cache-control.ts';

type GoodResponse = Extract<RawResponse, { result: string }>;

/** Whether a response may stand in for another: a whole result that is no failure, no question and no task. */
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

/** The response that a kept result is; undefined where it is none. */
export function toResponse(result: string): GoodResponse | undefined {
  const parsed: unknown = JSON.parse(result);
  return isObject(parsed) ? { kind: 'response', result, parsed } : undefined;
}

/** What a result tells of the cache. */
export interface CacheNote {
  hit: boolean;
  /** How long ago its call was made; of a hit. */
  age_ms?: number;
  /** How old a result may be. */
  ttl_ms: number;
}

/** The response with a note in its `_meta`, every other byte as it was. */
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
