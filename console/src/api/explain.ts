/** Why a principal may or may not use a tool, and the rule that the explanation names. */
import type { AccessExplanation, AccessRule, ExplainAccess } from '../generated/types.gen.ts';
import { request } from './request.ts';
import { liveMs } from './live.ts';

interface Asking {
  signal: AbortSignal;
}
const STALE_MS = 30_000;

/** Repeated while the page is open, so that changes made elsewhere show. */
export const explainQuery = (body: ExplainAccess) => ({
  queryKey: ['explain', body],
  queryFn: ({ signal }: Asking) =>
    request<AccessExplanation>('access/explain', { method: 'POST', body, signal }),
  refetchInterval: liveMs,
});

export const ruleQuery = (id: string) => ({
  queryKey: ['rules', id],
  queryFn: ({ signal }: Asking) =>
    request<AccessRule>(`access/rules/${encodeURIComponent(id)}`, { signal }),
  staleTime: STALE_MS,
});
