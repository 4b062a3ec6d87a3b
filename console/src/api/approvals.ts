/** Held definitions, and the decisions on them. */
import type { Approval, ApprovalPage, Approve, WholeApproval } from '../generated/types.gen.ts';
import { ApiProblem, request } from './request.ts';
import { liveMs } from './live.ts';

/** Most definitions in one decision. */
export const MAX_ITEMS = 500;
const PAGE = 100;
/** The definition changed or is gone since it was shown: not found, a conflicting name, or another fingerprint. */
const STALE = new Set([404, 409, 412]);

export interface ApprovalFilter {
  /** Id of a server; empty: all servers. */
  server: string;
  /** `waiting` or a state, as in the API. */
  state: string;
}

/** Lists page by page, the latest change first; for `useInfiniteQuery`. */
export const approvalsQuery = ({ server, state }: ApprovalFilter) => ({
  queryKey: ['approvals', 'list', server, state],
  queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: string }) =>
    request<ApprovalPage>('approvals', {
      query: { limit: PAGE, server, state, cursor: pageParam },
      signal,
    }),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor: next }: ApprovalPage) => next,
  refetchInterval: liveMs,
});

/** Reads both definitions and their differences. @param fingerprint of the held definition: a new one makes a new request */
export const approvalQuery = (id: string, fingerprint: string | null) => ({
  queryKey: ['approvals', 'one', id, fingerprint],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<WholeApproval>(`approvals/${encodeURIComponent(id)}`, { signal }),
});

/** Lists at most one page of what waits at a server, with the `version` at which all of it can be approved. */
export const listWaiting = (server: string) =>
  request<ApprovalPage>('approvals', { query: { limit: MAX_ITEMS, server } });

export type Verb = 'approve' | 'reject';

export interface Decided {
  decided: number;
  server_ids: string[];
}

/** A definition as it was shown. */
export type Looked = Pick<Approval, 'server_id' | 'kind' | 'name'> & { fingerprint: string };

/**
 * Decides on definitions as they were shown: on all of them, or on none. @param accepts approve despite a misleading name; one item only
 */
export const decide = (verb: Verb, items: readonly Looked[], accepts = false) =>
  post(verb, { items: [...items], ...(accepts ? { accept_quarantined: true } : {}) });

/** Approves everything that waits at a server, except misleading names. @param version of the list that was shown */
export const approveAll = (server: string, version: string) =>
  post('approve', { server_id: server, version });

const post = (verb: Verb, body: Approve) =>
  request<Decided>(`approvals/${verb}`, { method: 'POST', body });

/** Whether nothing was decided because a definition is no longer as shown. */
export const isStale = (thrown: unknown): thrown is ApiProblem =>
  thrown instanceof ApiProblem && STALE.has(thrown.status);
