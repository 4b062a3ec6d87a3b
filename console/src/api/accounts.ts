/** Accounts at servers: one's own, and those of all for who administers. */
import type { AccountPage, AccountServers } from '../generated/types.gen.ts';
import { request } from './request.ts';
import { LIVE_MS } from './live.ts';

export const accountsQuery = () => ({
  queryKey: ['accounts'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<AccountPage>('accounts', { query: { limit: 200 }, signal }),
  refetchInterval: LIVE_MS,
});

/** Servers at which one can have an account. */
export const accountServersQuery = () => ({
  queryKey: ['account-servers'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<AccountServers>('account-servers', { signal }),
  refetchInterval: LIVE_MS,
});

/** End an account. */
export const endAccount = (id: string) =>
  request<undefined>(`accounts/${encodeURIComponent(id)}`, { method: 'DELETE' });
