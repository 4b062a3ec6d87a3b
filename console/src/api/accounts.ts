/** Accounts at servers: the user's own, and for administrators those of everybody. */
import type { AccountPage, AccountServers } from '../generated/types.gen.ts';
import { LIVE_MS } from './live.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';

/** Lists accounts, newest first. @param principal id of their owner; empty: everybody's, if the user may see them */
export const accountsQuery = (principal = '') =>
  paged<AccountPage>(['accounts', principal], 'accounts', {
    query: { principal },
    every: LIVE_MS,
  });

/** Servers at which users can have an account. */
export const accountServersQuery = () => ({
  queryKey: ['account-servers'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<AccountServers>('account-servers', { signal }),
  refetchInterval: LIVE_MS,
});

/** Ends an account. */
export const endAccount = (id: string) =>
  request<undefined>(`accounts/${encodeURIComponent(id)}`, { method: 'DELETE' });
