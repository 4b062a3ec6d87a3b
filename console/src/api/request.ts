/**
 * Requests to the gateway's REST API as the signed-in user. Scripts see no credential except a token that somebody pasted into this tab; it
 * is only in memory, and gone when the page closes.
 */

/** An unsuccessful response of the gateway (RFC 9457). */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  /** Messages by field of the request. */
  readonly fields: readonly { field: string; message: string }[];

  /** The page where a missing account can be connected. */
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

/** There was no response from the gateway. */
export class Unreachable extends Error {
  /** @param isChange the gateway may have done it all the same */
  constructor(isChange: boolean) {
    const advice = isChange
      ? 'It is not known whether this was done: look before you try again'
      : 'Nothing was lost: try again when the network is back';
    super(`The gateway cannot be reached. ${advice}`);
  }
}

export interface Asked {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  /** A body sent unchanged, instead of `body`. */
  text?: string;
  /** The revision that is edited; the request is refused if there is a newer one. */
  revision?: number;
  /** The record must not exist yet; else the request is refused. */
  isNew?: boolean;
  signal?: AbortSignal;
}

/** Path of the request that says who is signed in. */
export const ME_PATH = 'token';

let pasted: string | undefined;

/** Uses a token for this tab instead of a sign-in; undefined: stops using it. */
export function useToken(token: string | undefined): void {
  pasted = token;
}

/** Whether a token was pasted into this tab. */
export const hasToken = (): boolean => pasted !== undefined;

let refused: () => void = () => {};

/** Sets what is called when the gateway refuses the sign-in or the token of a request (401). */
export function onRefused(act: () => void): void {
  refused = act;
}

/**
 * Sends a request to the API.
 * @param path below `/api/v1/`
 * @throws ApiProblem, Unreachable
 */
export async function request<T>(path: string, asked: Asked = {}): Promise<T> {
  const answer = await send(path, asked);
  if (!answer.ok) throw await toProblem(answer);
  const text = await answer.text();
  return (text === '' ? undefined : parse(text)) as T;
}

/** Reads the problem from an unsuccessful response. */
export const toProblem = async (answer: Response): Promise<ApiProblem> =>
  new ApiProblem(answer.status, parse(await answer.text()));

/** Sends a request and returns the response, whatever its status. @throws Unreachable */
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
    const answer = await fetch(url, {
      method,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
      ...(signal ? { signal } : {}),
    });
    if (answer.status === 401 && path !== ME_PATH) refused();
    return answer;
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    throw new Unreachable(method !== 'GET');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
