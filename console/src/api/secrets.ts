/** Secrets as the API shows them: never a value. Listing them leaves an audit row, so they are not polled. */
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
 * Creates or replaces a secret.
 * @param revision of the replaced one; undefined where there must be none yet
 * @throws ApiProblem 412 where there is another revision, or one already
 */
export const putSecret = (name: string, body: PutSecret, revision: number | undefined) =>
  request<Secret>(`secrets/${encodeURIComponent(name)}`, {
    method: 'PUT',
    body,
    ...(revision === undefined ? { isNew: true } : { revision }),
  });

/** Deletes a secret. @throws ApiProblem 409 while a server refers to it */
export const deleteSecret = (name: string) =>
  request<undefined>(`secrets/${encodeURIComponent(name)}`, { method: 'DELETE' });
