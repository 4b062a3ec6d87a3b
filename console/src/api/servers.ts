/** Servers of the registry, and the actions on them. */
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

/** Polling interval for a server that is connecting, in milliseconds. */
const CONNECTING_MS = 1_000;
/** Servers per page. */
const PAGE = 100;
/** Checks shown in a plot. */
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

/** Filters of the list; empty: no filter. */
export interface ServerFilter {
  name: string;
  status: string;
}

/** Lists page by page, for `useInfiniteQuery`. */
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

/** An overview of all servers. */
export interface ServerSummary {
  counts: Readonly<Record<Status, number>>;
  /** Broken servers, up to `MAX_BROKEN`. */
  broken: readonly Server[];
  /** The first page, in order of name. */
  first: readonly Server[];
  total: number;
}

/** Statuses of broken servers, the worst first. */
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
    // Usually one page holds all servers; else each status needs its own request.
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

/** Lists a server's tools. @param state changes whenever the tools may have changed, and so makes a new request */
export const serverToolsQuery = (id: string, state: string) => ({
  queryKey: ['servers', 'tools', id, state],
  queryFn: ({ signal }: Asking) =>
    request<ToolsByServer>('tools', { query: { server: id }, signal }),
});

/** Reads the current state of a server. */
export const readServer = (id: string) => request<Server>(pathOf(id));

export const createServer = (body: CreateServer) =>
  request<Server>('aggregator/servers', { method: 'POST', body });

/** Edits a server. @throws ApiProblem 412 where it has another revision */
export const updateServer = (id: string, body: UpdateServer, revision: number) =>
  request<Server>(pathOf(id), { method: 'PATCH', body, revision });

export const connectServer = (id: string) =>
  request<unknown>(`${pathOf(id)}/connect`, { method: 'POST' });

export const disconnectServer = (id: string) =>
  request<unknown>(`${pathOf(id)}/disconnect`, { method: 'POST' });

export const deleteServer = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/** What to do with an entry whose name is taken. */
export type OnConflict = 'skip' | 'update' | 'fail';

/**
 * Imports servers from the raw text of a file, which may contain comments.
 * @param isPlan only report what would be done
 */
export const importServers = (text: string, onConflict: OnConflict, isPlan: boolean) =>
  request<Import>('aggregator/import', {
    method: 'POST',
    query: { dry_run: isPlan, on_conflict: onConflict },
    text,
  });
