/** Definitions that are held until somebody decides on them, and the decisions. */
import type { Approval, ApprovalPage, Approve, WholeApproval } from '../generated/types.gen.ts';
import { ApiProblem, request } from './request.ts';
import { liveMs } from './live.ts';

/** Most definitions that are decided on at once, and most of one page. */
export const MAX_ITEMS = 500;
const PAGE = 100;
/** It changed, or went, since somebody looked: not there, another one's name, another definition. */
const STALE = new Set([404, 409, 412]);

export interface ApprovalFilter {
  /** Id of a server; empty: all. */
  server: string;
  /** As the API has it: `waiting`, or a state. */
  state: string;
}

/** Page by page, what changed last first; for `useInfiniteQuery`. */
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

/** Both definitions, and what differs. @param fingerprint of the one that waits: with another one it is asked for anew */
export const approvalQuery = (id: string, fingerprint: string | null) => ({
  queryKey: ['approvals', 'one', id, fingerprint],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<WholeApproval>(`approvals/${encodeURIComponent(id)}`, { signal }),
});

/** What waits at a server, at most one page of it, with the `version` that all of it can be approved at. */
export const listWaiting = (server: string) =>
  request<ApprovalPage>('approvals', { query: { limit: MAX_ITEMS, server } });

export type Verb = 'approve' | 'reject';

export interface Decided {
  decided: number;
  server_ids: string[];
}

/** A definition that was looked at. */
export type Looked = Pick<Approval, 'server_id' | 'kind' | 'name'> & { fingerprint: string };

/** On what was looked at: on all of it, or on nothing. @param accepts in spite of its name; one item only */
export const decide = (verb: Verb, items: readonly Looked[], accepts = false) =>
  post(verb, { items: [...items], ...(accepts ? { accept_quarantined: true } : {}) });

/** Approve everything of a server that waits, but what misleads. @param version of the list that was looked at */
export const approveAll = (server: string, version: string) =>
  post('approve', { server_id: server, version });

const post = (verb: Verb, body: Approve) =>
  request<Decided>(`approvals/${verb}`, { method: 'POST', body });

/** Whether nothing was decided since it is not what was looked at any more. */
export const isStale = (thrown: unknown): thrown is ApiProblem =>
  thrown instanceof ApiProblem && STALE.has(thrown.status);
