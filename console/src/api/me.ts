/** Who is signed in. */
import type { OwnToken } from '../generated/types.gen.ts';
import { request } from './request.ts';

export type Me = OwnToken;

export const meQuery = () => ({
  queryKey: ['me'],
  queryFn: ({ signal }: { signal: AbortSignal }) => request<Me>('token', { signal }),
});
