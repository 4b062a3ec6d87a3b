/** The signed-in principal. */
import type { OwnToken } from '../generated/types.gen.ts';
import { ME_PATH, request } from './request.ts';

export type Me = OwnToken;

export const meQuery = () => ({
  queryKey: ['me'],
  queryFn: ({ signal }: { signal: AbortSignal }) => request<Me>(ME_PATH, { signal }),
});

/** Whether the caller has a scope; administrators have all. */
export const mayUse = ({ scopes }: Me, scope: Me['scopes'][number]): boolean =>
  scopes.includes('admin') || scopes.includes(scope);
