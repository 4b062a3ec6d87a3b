/** Audit rows, newest first, page by page. */
import type { AuditCounts, AuditPage } from '../generated/types.gen.ts';
import type { AuditSearch } from './audit-search.ts';
import { request } from './request.ts';
import { LIVE_MS } from './live.ts';

const PAGE = 100;
/** Counting costs more than a page, so it is repeated less often. */
const COUNTS_MS = 60_000;

interface Asking {
  pageParam: string | undefined;
  signal: AbortSignal;
}

/** Refreshes only while just the first page is loaded. */
export const auditQuery = (search: AuditSearch) => ({
  queryKey: ['audit', search],
  queryFn: ({ pageParam: cursor, signal }: Asking) =>
    request<AuditPage>('audit', { query: { ...search, limit: PAGE, cursor }, signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_cursor: next }: AuditPage) => next,
  refetchInterval: ({ state }: { state: { data?: { pages: unknown[] } | undefined } }) =>
    (state.data?.pages.length ?? 0) > 1 ? false : LIVE_MS,
});

/** Counts of all matching rows, by time. @param step in seconds; absent: the gateway chooses */
export const auditCountsQuery = (search: AuditSearch, step?: number) => ({
  queryKey: ['audit-counts', search, step],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<AuditCounts>('audit/counts', { query: { ...search, step }, signal }),
  refetchInterval: COUNTS_MS,
});

/** The URL where the browser downloads all rows of a search, one per line. */
export function exportUrl(search: AuditSearch): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) query.set(name, value);
  return `/api/v1/audit/export?${query}`;
}
