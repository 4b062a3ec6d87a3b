/** Tokens of principals. A token's value is only in the response that creates it; callers must not put it into a cache. */
import type { CreateToken, IssuedToken, TokenPage } from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { PEOPLE_MS } from './people.ts';
import { request } from './request.ts';

interface Asking {
  signal: AbortSignal;
}

const STALE_MS = 30_000;

const pathOf = (id: string) => `tokens/${encodeURIComponent(id)}`;

/** The first tokens of a principal, to choose one. */
export const tokensOf = (principal: string) => ({
  queryKey: ['tokens', 'of', principal],
  queryFn: ({ signal }: Asking) =>
    request<TokenPage>('tokens', { query: { principal, limit: 200 }, signal }),
  enabled: principal !== '',
  staleTime: STALE_MS,
});

/** Lists the tokens of a principal, newest first. */
export const tokenListQuery = (principal: string) =>
  paged<TokenPage>(['tokens', 'list', principal], 'tokens', {
    query: { principal },
    every: PEOPLE_MS,
  });

export const createToken = (body: CreateToken) =>
  request<IssuedToken>('tokens', { method: 'POST', body });

/** Gives a token a new value. @param graceSeconds how long the former value stays valid */
export const rotateToken = (id: string, graceSeconds: number) =>
  request<IssuedToken>(`${pathOf(id)}/rotate`, {
    method: 'POST',
    body: { grace_seconds: graceSeconds },
  });

export const revokeToken = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });
