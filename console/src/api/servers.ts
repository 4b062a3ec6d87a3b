/** Servers, as the registry has them. */
import type { ServerPage } from '../generated/types.gen.ts';
import { request } from './request.ts';

/** How often what changes by itself is asked for while somebody looks, in milliseconds. */
export const LIVE_MS = 5_000;

export const serversQuery = () => ({
  queryKey: ['servers'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    request<ServerPage>('aggregator/servers', { query: { limit: 200 }, signal }),
  refetchInterval: LIVE_MS,
});
