/** Usage: the gateway's totals of calls, grouped and filtered. */
import type { InfiniteData } from '@tanstack/preact-query';
import type { UsagePage } from '../generated/types.gen.ts';
import { request } from './request.ts';

/** What each row stands for. */
export type UsageBy = 'day' | 'principal' | 'group' | 'server' | 'tool';

/** Filters and grouping of usage. */
export interface UsageAsked {
  by: UsageBy;
  /** First day (UTC). */
  from: string;
  principal?: string;
  group?: string;
  server?: string;
  tool?: string;
}

/** Totals include calls about a minute after they ended. */
const USAGE_MS = 60_000;
/** If totals are further behind than this, they are being computed, and are polled more often. */
const BEHIND_MS = 900_000;
const SOON_MS = 3_000;
const PAGE = 100;
/** More days than are ever requested. */
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

/** Whether the totals are still behind. */
export const isBehind = ({ counted_until: until }: UsagePage): boolean =>
  Date.now() - Date.parse(until) > BEHIND_MS;

const waitAfter = (page: UsagePage | undefined) => (page && isBehind(page) ? SOON_MS : USAGE_MS);

/** Lists usage, the most calls first, page by page. */
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

/** The URL where the browser downloads usage as a table, also by day. */
export function usageExportUrl({ by, ...others }: UsageAsked): string {
  const query = new URLSearchParams({ ...others, by: by === 'day' ? by : `day,${by}` });
  return `/api/v1/usage/export?${query}`;
}
