/** Servers, as the registry has them, and what is done with them. */
import type {
  ApprovalPage,
  CreateServer,
  HealthHistory,
  Import,
  Server,
  ServerPage,
  ToolsByServer,
  UpdateServer,
} from '../generated/types.gen.ts';
import { LIVE_MS, liveMs } from './live.ts';
import { request } from './request.ts';

/** How often a server is asked for that is being connected, in milliseconds. */
const CONNECTING_MS = 1_000;
/** Servers of one page of the list. */
const PAGE = 100;
/** Checks that a plot has room for. */
const CHECKS = 100;

export type Status = Server['status'];
export const STATUSES: readonly Status[] = [
  'CONNECTED',
  'DEGRADED',
  'ERROR',
  'CONNECTING',
  'DISCONNECTED',
];

interface Asking {
  signal: AbortSignal;
}

export const serversQuery = () => ({
  queryKey: ['servers'],
  queryFn: ({ signal }: Asking) =>
    request<ServerPage>('aggregator/servers', { query: { limit: 200 }, signal }),
  refetchInterval: liveMs,
});

/** What the list is narrowed to; empty: nothing. */
export interface ServerFilter {
  name: string;
  status: string;
}

/** The list page by page, for `useInfiniteQuery`. */
export const serverListQuery = ({ name, status }: ServerFilter) => ({
  queryKey: ['servers', 'list', name, status],
  queryFn: ({ signal, pageParam }: Asking & { pageParam: string }) =>
    request<ServerPage>('aggregator/servers', {
      query: { limit: PAGE, name, status, cursor: pageParam },
      signal,
    }),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor: next }: ServerPage) => next,
  refetchInterval: liveMs,
});

/** What one sees of all servers at a glance. */
export interface ServerSummary {
  /** How many are in each state. */
  counts: Readonly<Record<Status, number>>;
  /** Those that something is wrong with, as many as one looks at. */
  broken: readonly Server[];
  /** The first in the order of their names. */
  first: readonly Server[];
  total: number;
}

/** States in which something is wrong, the worst first. */
const BROKEN: readonly Status[] = ['ERROR', 'DEGRADED'];
const MAX_BROKEN = 10;

export const serverSummaryQuery = () => ({
  queryKey: ['servers', 'summary'],
  queryFn: async ({ signal }: Asking): Promise<ServerSummary> => {
    const {
      servers,
      total,
      next_cursor: next,
    } = await request<ServerPage>('aggregator/servers', {
      query: { limit: 200 },
      signal,
    });
    // One page has them all nearly everywhere; else each state is asked for.
    const pageOf = async (status: Status) => {
      const query = { limit: MAX_BROKEN, status };
      if (next) return request<ServerPage>('aggregator/servers', { query, signal });
      const matching = servers.filter(server => server.status === status);
      return { servers: matching, total: matching.length };
    };
    const pages = await Promise.all(
      STATUSES.map(async status => [status, await pageOf(status)] as const),
    );
    const byStatus = new Map(pages);
    const counts = Object.fromEntries(pages.map(([status, page]) => [status, page.total]));
    const broken = BROKEN.flatMap(status => byStatus.get(status)?.servers ?? []);
    return {
      counts: counts as Record<Status, number>,
      broken: broken.slice(0, MAX_BROKEN),
      first: servers,
      total,
    };
  },
  refetchInterval: liveMs,
});

/** How many definitions wait for a decision. */
export const heldQuery = () => ({
  queryKey: ['approvals', 'held'],
  queryFn: ({ signal }: Asking) =>
    request<ApprovalPage>('approvals', { query: { limit: 1 }, signal }),
  refetchInterval: liveMs,
});

const pathOf = (id: string) => `aggregator/servers/${encodeURIComponent(id)}`;

export const serverQuery = (id: string) => ({
  queryKey: ['servers', 'one', id],
  queryFn: ({ signal }: Asking) => request<Server>(pathOf(id), { signal }),
  refetchInterval: ({ state }: { state: { data: Server | undefined } }) =>
    state.data?.status === 'CONNECTING' ? CONNECTING_MS : liveMs(),
});

export const healthQuery = (id: string) => ({
  queryKey: ['servers', 'health', id],
  queryFn: ({ signal }: Asking) =>
    request<HealthHistory>(`${pathOf(id)}/health`, { query: { limit: CHECKS }, signal }),
  refetchInterval: LIVE_MS,
});

/** @param state whatever changes where the tools do: they are asked for anew then */
export const serverToolsQuery = (id: string, state: string) => ({
  queryKey: ['servers', 'tools', id, state],
  queryFn: ({ signal }: Asking) =>
    request<ToolsByServer>('tools', { query: { server: id }, signal }),
});

/** Read a server as it is now. */
export const readServer = (id: string) => request<Server>(pathOf(id));

export const createServer = (body: CreateServer) =>
  request<Server>('aggregator/servers', { method: 'POST', body });

/** Edit one. @throws ApiProblem 412 where it has another revision */
export const updateServer = (id: string, body: UpdateServer, revision: number) =>
  request<Server>(pathOf(id), { method: 'PATCH', body, revision });

export const connectServer = (id: string) =>
  request<unknown>(`${pathOf(id)}/connect`, { method: 'POST' });

export const disconnectServer = (id: string) =>
  request<unknown>(`${pathOf(id)}/disconnect`, { method: 'POST' });

export const deleteServer = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/** What becomes of an entry whose name a server has. */
export type OnConflict = 'skip' | 'update' | 'fail';

/**
 * Servers from the text of a file, as it is: it may have comments.
 * @param isPlan tell what would be done, and do nothing
 */
export const importServers = (text: string, onConflict: OnConflict, isPlan: boolean) =>
  request<Import>('aggregator/import', {
    method: 'POST',
    query: { dry_run: isPlan, on_conflict: onConflict },
    text,
  });
