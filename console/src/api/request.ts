/**
 * Requests to the gateway's REST API, as whoever is signed in with the browser. No credential is in the hands of a script, but for a token
 * that somebody pasted into this tab: that is in memory, and gone with the page.
 */

/** What the gateway answered in place of what was asked for (RFC 9457). */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  /** By field of what was sent. */
  readonly fields: readonly { field: string; message: string }[];

  /** Page on which an account is connected that is missing. */
  readonly connectUrl: string | undefined;

  constructor(status: number, body: unknown) {
    const {
      code,
      detail,
      errors,
      connect_url: url,
    } = (body ?? {}) as Partial<Record<string, unknown>>;
    super(typeof detail === 'string' ? detail : `The gateway answered ${status}`);
    this.name = 'ApiProblem';
    this.status = status;
    const isOwn = typeof url === 'string' && url.startsWith(`${location.origin}/connect/`);
    this.connectUrl = isOwn ? url : undefined;
    this.code = typeof code === 'string' ? code : '';
    this.fields = Array.isArray(errors) ? (errors as { field: string; message: string }[]) : [];
  }
}

/** The gateway was not reached at all. */
export class Unreachable extends Error {
  constructor() {
    super('The gateway cannot be reached. Nothing was lost: try again when the network is back');
  }
}

export interface Asked {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  /** A body that is sent as it is, in place of `body`. */
  text?: string;
  /** Revision that is edited; another one meanwhile is refused. */
  revision?: number;
  /** What is put must not be there yet; else it is refused. */
  isNew?: boolean;
  signal?: AbortSignal;
}

let pasted: string | undefined;

/** Use a token for this tab in place of a sign-in; undefined: none any more. */
export function useToken(token: string | undefined): void {
  pasted = token;
}

/** A token was pasted into this tab. */
export const hasToken = (): boolean => pasted !== undefined;

/**
 * Ask the API.
 * @param path below `/api/v1/`
 * @throws ApiProblem, Unreachable
 */
export async function request<T>(path: string, asked: Asked = {}): Promise<T> {
  const answer = await send(path, asked);
  if (!answer.ok) throw await toProblem(answer);
  const text = await answer.text();
  return (text === '' ? undefined : parse(text)) as T;
}

/** What an answer that is no success says. */
export const toProblem = async (answer: Response): Promise<ApiProblem> =>
  new ApiProblem(answer.status, parse(await answer.text()));

/** Ask the API for an answer of this type, whatever it is. @throws Unreachable */
export async function send(
  path: string,
  { method = 'GET', query = {}, body, text, revision, isNew = false, signal }: Asked,
  accept = 'application/json',
): Promise<Response> {
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const url = new URL(`/api/v1/${path}`, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  const headers = new Headers({ accept });
  if (pasted !== undefined) headers.set('authorization', `Bearer ${pasted}`);
  if (sent !== undefined) headers.set('content-type', 'application/json');
  if (revision !== undefined) headers.set('if-match', `"r${revision}"`);
  if (isNew) headers.set('if-none-match', '*');
  try {
    return await fetch(url, {
      method,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
      ...(signal ? { signal } : {}),
    });
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    throw new Unreachable();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
