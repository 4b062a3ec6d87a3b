/** How much was called: what the gateway added up of the calls, by what one asks. */
import type { InfiniteData } from '@tanstack/preact-query';
import type { UsagePage } from '../generated/types.gen.ts';
import { request } from './request.ts';

/** What rows are of. */
export type UsageBy = 'day' | 'principal' | 'group' | 'server' | 'tool';

/** Which calls, and what they are told by. */
export interface UsageAsked {
  by: UsageBy;
  /** First day (UTC). */
  from: string;
  principal?: string;
  group?: string;
  server?: string;
  tool?: string;
}

/** It is added up of calls that are final, some two minutes after they ended. */
const USAGE_MS = 60_000;
/** What is left longer than this is being added up, and shows soon. */
const BEHIND_MS = 900_000;
const SOON_MS = 3_000;
const PAGE = 100;
/** More days than are asked for. */
const MAX_DAYS = 200;

interface Kept<T> {
  state: { data?: T | undefined };
}

interface Asking {
  signal: AbortSignal;
  pageParam: string;
}

const pageOf = (query: UsageAsked, limit: number, cursor: string, signal: AbortSignal) =>
  request<UsagePage>('usage', { query: { ...query, limit, cursor }, signal });

/** Whether there are calls that are not added up yet, though they could be. */
export const isBehind = ({ counted_until: until }: UsagePage): boolean =>
  Date.now() - Date.parse(until) > BEHIND_MS;

const waitAfter = (page: UsagePage | undefined) => (page && isBehind(page) ? SOON_MS : USAGE_MS);

/** The most calls first, page by page. */
export const usageQuery = (asked: UsageAsked) => ({
  queryKey: ['usage', asked],
  queryFn: ({ signal, pageParam }: Asking) => pageOf(asked, PAGE, pageParam, signal),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor: next }: UsagePage) => next,
  refetchInterval: ({ state }: Kept<InfiniteData<UsagePage>>) => waitAfter(state.data?.pages[0]),
});

/** The same calls by day. */
export const usageByDayQuery = (asked: UsageAsked) => ({
  queryKey: ['usage', 'days', asked],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    pageOf({ ...asked, by: 'day' }, MAX_DAYS, '', signal),
  refetchInterval: ({ state }: Kept<UsagePage>) => waitAfter(state.data),
});

/** Where the browser gets a table of it, by day besides. */
export function usageExportUrl({ by, ...others }: UsageAsked): string {
  const query = new URLSearchParams({ ...others, by: by === 'day' ? by : `day,${by}` });
  return `/api/v1/usage/export?${query}`;
}
