/** The keys of the gateway by their ids, what is under each, and their rotation. Keys themselves never leave the gateway. */
import type { Keys, RotatedKeys } from '../generated/types.gen.ts';
import { request } from './request.ts';

export const KEYS = ['keys'];
/** Records of one request. */
const LIMIT = 50;
/** Edits meanwhile may leave something behind: it is gone through again so often. */
const MAX_PASSES = 3;

export const keysQuery = () => ({
  queryKey: KEYS,
  queryFn: ({ signal }: { signal?: AbortSignal }) =>
    request<Keys>('keys', signal ? { signal } : {}),
});

/**
 * Put everything that is sealed under the active key.
 * @param onProgress after each request
 * @returns what is left, with those that could not be opened
 * @throws ApiProblem, Unreachable; what is done stays done
 */
export async function rotateAll(
  onProgress: (progress: RotatedKeys) => void,
  signal: AbortSignal,
): Promise<{ keys: Keys; unreadable: number }> {
  let unreadable = 0;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    unreadable = 0;
    let cursor: string | null = null;
    do {
      const progress: RotatedKeys = await request<RotatedKeys>('keys/rotate', {
        method: 'POST',
        body: { limit: LIMIT, cursor },
        signal,
      });
      onProgress(progress);
      unreadable += progress.unreadable;
      cursor = progress.remaining === 0 ? null : progress.next;
    } while (cursor !== null);
    const keys = await keysQuery().queryFn({ signal });
    if (keys.remaining <= unreadable) return { keys, unreadable };
  }
  return { keys: await keysQuery().queryFn({ signal }), unreadable };
}
