/** The language model of the deployment, and its use today. */
import type { Model } from '../generated/types.gen.ts';
import { request } from './request.ts';

const MINUTE_MS = 60_000;

export const modelQuery = () => ({
  queryKey: ['model'],
  queryFn: ({ signal }: { signal: AbortSignal }) => request<Model>('model', { signal }),
  refetchInterval: MINUTE_MS,
});
