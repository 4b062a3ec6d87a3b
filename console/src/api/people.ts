/** Principals, who call, and the groups that they are in. */
import type {
  CreatePrincipal,
  GroupPage,
  Principal,
  PrincipalPage,
  UpdatePrincipal,
} from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';

interface Asking {
  signal: AbortSignal;
}

const STALE_MS = 30_000;
/** How often what people do is asked for while somebody looks, in milliseconds. */
export const PEOPLE_MS = 15_000;

const IS_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const pathOf = (id: string) => `principals/${encodeURIComponent(id)}`;

/** What the list is narrowed to; empty: nothing. */
export interface PrincipalFilter {
  name: string;
  group: string;
}

export const principalListQuery = ({ name, group }: PrincipalFilter) =>
  paged<PrincipalPage>(['principals', 'list', name, group], 'principals', {
    query: { name, group },
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

/**
 * The one principal that is called so, or has this id.
 * @throws Error where there is none or are several; ApiProblem, Unreachable
 */
export async function findOnlyPrincipal(text: string): Promise<Principal> {
  if (IS_ID.test(text)) return readPrincipal(text);
  const found: Principal[] = [];
  let cursor: string | undefined;
  do {
    const query = { name: text, limit: 500, cursor };
    const page = await request<PrincipalPage>('principals', { query });
    found.push(...page.principals.filter(({ name }) => name === text));
    cursor = page.next_cursor;
  } while (cursor !== undefined && found.length < 2);
  const [only, other] = found;
  if (!only) throw new Error('There is nobody of this name');
  if (other)
    throw new Error('Several have this name: give the id, from the page of the one you mean');
  return only;
}
