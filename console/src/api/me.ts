/** Who is signed in. */
import type { OwnToken } from '../generated/types.gen.ts';
import { request } from './request.ts';

export type Me = OwnToken;

export const meQuery = () => ({
  queryKey: ['me'],
  queryFn: ({ signal }: { signal: AbortSignal }) => request<Me>('token', { signal }),
});

/** Whether somebody may do what a scope allows; who administers may all of it. */
export const mayUse = ({ scopes }: Me, scope: Me['scopes'][number]): boolean =>
  scopes.includes('admin') || scopes.includes(scope);
