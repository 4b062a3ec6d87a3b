/** How much was called: what the gateway added up of the calls, by what one asks. */
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
const PAGE = 100;
/** More days than are asked for. */
const MAX_DAYS = 200;

interface Asking {
  signal: AbortSignal;
  pageParam: string;
}

const pageOf = (query: UsageAsked, limit: number, cursor: string, signal: AbortSignal) =>
  request<UsagePage>('usage', { query: { ...query, limit, cursor }, signal });

/** The most calls first, page by page. */
export const usageQuery = (asked: UsageAsked) => ({
  queryKey: ['usage', asked],
  queryFn: ({ signal, pageParam }: Asking) => pageOf(asked, PAGE, pageParam, signal),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor: next }: UsagePage) => next,
  refetchInterval: USAGE_MS,
});

/** The same calls by day. */
export const usageByDayQuery = (asked: UsageAsked) => ({
  queryKey: ['usage', 'days', asked],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    pageOf({ ...asked, by: 'day' }, MAX_DAYS, '', signal),
  refetchInterval: USAGE_MS,
});

/** Where the browser gets a table of it, by day besides. */
export function usageExportUrl({ by, ...others }: UsageAsked): string {
  const query = new URLSearchParams({ ...others, by: by === 'day' ? by : `day,${by}` });
  return `/api/v1/usage/export?${query}`;
}
