/** Principals and their groups. */
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
/** Refresh interval for what people do, in milliseconds. */
export const PEOPLE_MS = 15_000;

const IS_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const pathOf = (id: string) => `principals/${encodeURIComponent(id)}`;

/** Filters of the list; empty: no filter. */
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

/** Groups that have members or rules. */
export const groupsQuery = () => ({
  queryKey: ['principals', 'groups'],
  queryFn: ({ signal }: Asking) => request<GroupPage>('groups', { query: { limit: 500 }, signal }),
  staleTime: STALE_MS,
});

/** Reads the current state of a principal. */
export const readPrincipal = (id: string) => request<Principal>(pathOf(id));

export const createPrincipal = (body: CreatePrincipal) =>
  request<Principal>('principals', { method: 'POST', body });

/** Edits a principal. @throws ApiProblem 412 where it has another revision */
export const updatePrincipal = (id: string, body: UpdatePrincipal, revision: number) =>
  request<Principal>(pathOf(id), { method: 'PATCH', body, revision });

/** Deletes a principal; its tokens end too. */
export const deletePrincipal = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });

/**
 * Finds the only principal with this name, or the one with this id.
 * @throws Error where there is none or there are several; ApiProblem, Unreachable
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
  if (!only) throw new Error('There is nobody with this name');
  if (other)
    throw new Error('Several have this name: give the id, from the page of the one you mean');
  return only;
}
