/**
 * Drives a key rotation over the REST API: requests from the first record to the last, and again from the start if edits meanwhile left
 * records under a former key.
 */
import type { KeyUse } from '../../../src/credentials/lost-keys.ts';
import { Failure } from '../failure.ts';
import type { Api } from '../gateway/api.ts';

export interface KeysView {
  active: string;
  keys: KeyUse[];
  remaining: number;
  tokens_remaining: number;
}

/** Progress after a request. */
export interface Rotated {
  active: string;
  total: number;
  rotated: number;
  remaining: number;
  unreadable: number;
  next: string | null;
}

export interface KeysApi {
  report(): Promise<KeysView>;
  rotate(limit: number, cursor: string | null): Promise<Rotated>;
}

const PATH = '/api/v1/keys';
const MAX_PASSES = 3;
const NO_PROGRESS =
  'the response does not report the progress of the rotation; is --url a Portico gateway?';

/** The routes of a gateway. Repeating a request is harmless, so requests to a busy gateway are retried. */
export const keysOf = (api: Pick<Api, 'withRetries'>): KeysApi => ({
  report: () => api.withRetries('GET', PATH),
  rotate: (limit, cursor) => api.withRetries('POST', `${PATH}/rotate`, { limit, cursor }),
});

/** Without these fields the loop could not tell when the rotation is over. */
const isRotated = (progress: Partial<Rotated>): progress is Rotated =>
  progress.next !== undefined && Number.isInteger(progress.remaining);

/**
 * Rotates everything.
 * @param onProgress called after each request
 * @returns what remains, and how many records of the last pass could not be opened
 * @throws Failure where a response does not report the progress
 */
export async function rotateAll(
  api: KeysApi,
  limit: number,
  onProgress: (progress: Rotated) => void,
): Promise<{ unreadable: number; report: KeysView }> {
  let unreadable = 0;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    unreadable = 0;
    let cursor: string | null = null;
    do {
      const progress: Partial<Rotated> = await api.rotate(limit, cursor);
      if (!isRotated(progress)) throw new Failure(NO_PROGRESS);
      cursor = progress.next;
      unreadable += progress.unreadable;
      if (cursor !== null || pass === 0) onProgress(progress);
      if (progress.remaining === 0) cursor = null;
    } while (cursor !== null);
    const report = await api.report();
    if (report.remaining <= unreadable) return { unreadable, report };
  }
  return { unreadable, report: await api.report() };
}
