/** Why somebody may use a tool or not, and what is needed to say it in names. */
import type {
  AccessExplanation,
  AccessRule,
  ExplainAccess,
  Principal,
  TokenPage,
} from '../generated/types.gen.ts';
import { request } from './request.ts';
import { LIVE_MS } from './servers.ts';

interface Asking {
  signal: AbortSignal;
}
const STALE_MS = 30_000;

/** Asks again while somebody looks: what was changed elsewhere shows. */
export const explainQuery = (body: ExplainAccess) => ({
  queryKey: ['explain', body],
  queryFn: ({ signal }: Asking) =>
    request<AccessExplanation>('access/explain', { method: 'POST', body, signal }),
  refetchInterval: LIVE_MS,
});

export const principalQuery = (id: string) => ({
  queryKey: ['principals', id],
  queryFn: ({ signal }: Asking) =>
    request<Principal>(`principals/${encodeURIComponent(id)}`, { signal }),
  enabled: id !== '',
  staleTime: STALE_MS,
});

export const tokensOf = (principal: string) => ({
  queryKey: ['tokens', 'of', principal],
  queryFn: ({ signal }: Asking) =>
    request<TokenPage>('tokens', { query: { principal, limit: 200 }, signal }),
  enabled: principal !== '',
  staleTime: STALE_MS,
});

export const ruleQuery = (id: string) => ({
  queryKey: ['rules', id],
  queryFn: ({ signal }: Asking) =>
    request<AccessRule>(`access/rules/${encodeURIComponent(id)}`, { signal }),
  staleTime: STALE_MS,
});
