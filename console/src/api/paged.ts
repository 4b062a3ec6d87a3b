/** Lists that the API gives page by page. */
import { request, type Asked } from './request.ts';

/** What a page has beside its records. */
export interface Page {
  next_cursor?: string;
  total: number;
}

/** Records of one page. */
const PAGE = 100;

interface Asking {
  signal: AbortSignal;
  pageParam: string;
}

interface Listed {
  query?: Asked['query'];
  /** Asked anew so often while somebody looks, in milliseconds; absent: not by the clock. */
  every?: number | (() => number);
}

/** A list for `useInfiniteQuery`. @param path below `/api/v1/` */
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
