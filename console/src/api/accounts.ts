/** Accounts at servers: the user's own, and for administrators those of everybody. */
import type { AccountPage, AccountServers } from '../generated/types.gen.ts';
import { request } from './request.ts';
import { LIVE_MS } from './live.ts';

export const accountsQuery = () => ({
  queryKey: ['accounts'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<AccountPage>('accounts', { query: { limit: 200 }, signal }),
  refetchInterval: LIVE_MS,
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
