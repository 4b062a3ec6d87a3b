/** Secrets, as the API tells of them: never a value. Whoever lists them leaves a row in the audit, so they are not asked for by the clock. */
import type { PutSecret, Secret } from '../generated/types.gen.ts';
import { request } from './request.ts';

export const SECRETS = ['secrets'];
const STALE_MS = 60_000;

export const secretsQuery = () => ({
  queryKey: SECRETS,
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Secret[]> => {
    const { secrets } = await request<{ secrets: Secret[] }>('secrets', { signal });
    return secrets;
  },
  staleTime: STALE_MS,
  refetchOnWindowFocus: false,
});

/**
 * Make a secret, or replace it.
 * @param revision of the one that is replaced; undefined where there must be none yet
 * @throws ApiProblem 412 where something else is there
 */
export const putSecret = (name: string, body: PutSecret, revision: number | undefined) =>
  request<Secret>(`secrets/${encodeURIComponent(name)}`, {
    method: 'PUT',
    body,
    ...(revision === undefined ? { isNew: true } : { revision }),
  });

/** Delete one. @throws ApiProblem 409 while a server refers to it */
export const deleteSecret = (name: string) =>
  request<undefined>(`secrets/${encodeURIComponent(name)}`, { method: 'DELETE' });
