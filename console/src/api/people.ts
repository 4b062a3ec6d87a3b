/** Principals, who call, and the groups that they are in. */
import type {
  CreatePrincipal,
  GroupPage,
  Principal,
  PrincipalPage,
  UpdatePrincipal,
} from '../generated/types.gen.ts';
import { request } from './request.ts';

interface Asking {
  signal: AbortSignal;
}

const PAGE = 100;
const STALE_MS = 30_000;
/** How often what people do is asked for while somebody looks, in milliseconds. */
export const PEOPLE_MS = 15_000;

const pathOf = (id: string) => `principals/${encodeURIComponent(id)}`;

/** What the list is narrowed to; empty: nothing. */
export interface PrincipalFilter {
  name: string;
  group: string;
}

/** The list page by page, for `useInfiniteQuery`. */
export const principalListQuery = ({ name, group }: PrincipalFilter) => ({
  queryKey: ['principals', 'list', name, group],
  queryFn: ({ signal, pageParam }: Asking & { pageParam: string }) =>
    request<PrincipalPage>('principals', {
      query: { limit: PAGE, name, group, cursor: pageParam },
      signal,
    }),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor: next }: PrincipalPage) => next,
});

export const principalQuery = (id: string) => ({
  queryKey: ['principals', id],
  queryFn: ({ signal }: Asking) => request<Principal>(pathOf(id), { signal }),
  enabled: id !== '',
  staleTime: STALE_MS,
});

/** Groups that somebody is in or a rule is for. */
export const groupsQuery = () => ({
  queryKey: ['principals', 'groups'],
  queryFn: ({ signal }: Asking) => request<GroupPage>('groups', { query: { limit: 500 }, signal }),
  staleTime: STALE_MS,
});

/** Read one as it is now. */
export const readPrincipal = (id: string) => request<Principal>(pathOf(id));

export const createPrincipal = (body: CreatePrincipal) =>
  request<Principal>('principals', { method: 'POST', body });

/** Edit one. @throws ApiProblem 412 where it has another revision */
export const updatePrincipal = (id: string, body: UpdatePrincipal, revision: number) =>
  request<Principal>(pathOf(id), { method: 'PATCH', body, revision });

/** Its tokens end with it. */
export const deletePrincipal = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });
