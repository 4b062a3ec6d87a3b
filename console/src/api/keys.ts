/** The keys of the gateway by id, what each of them seals, and their rotation. Keys themselves never leave the gateway. */
import type { Keys, RotatedKeys } from '../generated/types.gen.ts';
import { request } from './request.ts';

export const KEYS = ['keys'];
/** Records per request. */
const LIMIT = 50;
/** Edits during a rotation may leave records behind, so it makes up to this many passes. */
const MAX_PASSES = 3;

export const keysQuery = () => ({
  queryKey: KEYS,
  queryFn: ({ signal }: { signal?: AbortSignal }) =>
    request<Keys>('keys', signal ? { signal } : {}),
});

/**
 * Seals everything under the active key.
 * @param onProgress called after each request
 * @returns what remains, and how many records could not be opened
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
