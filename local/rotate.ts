/**
 * Drives a rotation by the REST API to its end: request after request, from the first record to the last, and once more from
 * the beginning where edits meanwhile left something behind. What the network or a busy gateway refuses is asked again: a
 * request that came through twice does no harm.
 */
import { StartError } from './start-error.ts';

export interface KeysReport {
  active: string;
  keys: {
    id: string;
    in_ring: boolean;
    secrets: number;
    servers: number;
    access_tokens: number;
    tokens: number;
  }[];
  remaining: number;
  tokens_remaining: number;
}

/** Progress after a request. */
export interface RotateProgress {
  active: string;
  total: number;
  rotated: number;
  remaining: number;
  unreadable: number;
  next: string | null;
}

export interface KeysApi {
  report(): Promise<KeysReport>;
  rotate(limit: number, cursor: string | null): Promise<RotateProgress>;
}

const TIMEOUT_MS = 30_000;
const MAX_TRIES = 5;
const RETRY_MS = 250;
const MAX_PASSES = 3;

/** The routes of one gateway. */
export function createKeysApi(origin: string, token: string): KeysApi {
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const answer = await request(origin, token, method, path, body);
      if (typeof answer !== 'string') return answer.json as T;
      if (tries === MAX_TRIES) throw new StartError(answer);
      await new Promise(resolve => setTimeout(resolve, RETRY_MS * 2 ** tries));
    }
  }
  return {
    report: () => call('GET', '/api/v1/keys'),
    rotate: (limit, cursor) => call('POST', '/api/v1/keys/rotate', { limit, cursor }),
  };
}

/** @returns the answer, or why to try again */
async function request(
  origin: string,
  token: string,
  method: string,
  path: string,
  body: object | undefined,
): Promise<{ json: unknown } | string> {
  let response: Response;
  try {
    response = await fetch(`${origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return { json: await response.json() };
  } catch {
    return `${origin} cannot be reached.`;
  }
  const text = await response.text();
  const line = `${origin} answers ${response.status}: ${toReason(text)}`;
  if (response.status === 429 || response.status >= 500) return line;
  throw new StartError(line);
}

/** The reason in a problem document, in one line. */
function toReason(text: string): string {
  try {
    const problem = JSON.parse(text) as { detail?: unknown; title?: unknown };
    return String(problem.detail ?? problem.title ?? '');
  } catch {
    return text.slice(0, 100).replaceAll(/\s+/g, ' ');
  }
}

/**
 * Rotate everything.
 * @param onProgress called after each request
 * @returns what is left, and how many records of the last pass could not be opened
 */
export async function rotateAll(
  api: KeysApi,
  limit: number,
  onProgress: (progress: RotateProgress) => void,
): Promise<{ unreadable: number; report: KeysReport }> {
  let unreadable = 0;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    unreadable = 0;
    let cursor: string | null = null;
    do {
      const progress = await api.rotate(limit, cursor);
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
