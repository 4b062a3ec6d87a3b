/** Lists that the API returns page by page. */
import { request, type Asked } from './request.ts';

/** Members of a page beside its records. */
export interface Page {
  next_cursor?: string;
  total: number;
}

/** Records per page. */
const PAGE = 100;

interface Asking {
  signal: AbortSignal;
  pageParam: string;
}

interface Listed {
  query?: Asked['query'];
  /** Refresh interval in milliseconds; absent: no refresh by time. */
  every?: number | (() => number);
}

/** Makes the options of a list for `useInfiniteQuery`. @param path below `/api/v1/` */
export const paged = <P extends Page>(
  queryKey: readonly unknown[],
  path: string,
  { query = {}, every }: Listed = {},
) => ({
  queryKey,
  queryFn: ({ signal, pageParam }: Asking) =>
    request<P>(path, { query: { limit: PAGE, ...query, cursor: pageParam }, signal }),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor: next }: P) => next,
  refetchInterval: every ?? (false as const),
});
