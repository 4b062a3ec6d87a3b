/** Decides what an HTTP status of an upstream other than 200 and 201 means for the request. Pure but for the clock. */
import { readChallenge } from '../../credentials/oauth/challenge.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { parseWithin } from '../../shared/json/json-spans.ts';
import { isObject, type JsonObject, type RequestId } from '../../shared/protocol.ts';
import { toRetryAfterMs } from '../../shared/util/retry-after.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { toSaid } from './error-text.ts';
import { isRpcError, parseMessage, type RawResponse, withoutSecrets } from './message.ts';

/** JSON-RPC code with which servers of the SDK's first generation refuse at the transport. */
const TRANSPORT_REFUSAL = -32000;

/** The part of an upstream endpoint that tells whether a credential was sent. */
type Sender = Pick<UpstreamEndpoint, 'hidden'>;

/** The stored credential lacks a permission for the request; the server says which scope it needs. */
export class ScopeWanted extends PorticoError {
  readonly scope: string;

  constructor(scope: string) {
    super('upstream_scope', 'The stored credential lacks a permission');
    this.scope = scope;
  }
}

/** The error for 401: the credential that was sent was refused, or none was sent. */
function authError(sender: Sender | undefined): PorticoError {
  const isSent = (sender?.hidden.length ?? 0) > 0;
  return new PorticoError(
    'upstream_auth',
    isSent
      ? 'The server refused the stored credential'
      : 'The server wants a credential, and none is stored for it',
  );
}

/**
 * The error for 403: only a challenge says that it is about the credential (RFC 6750, section 3.1); otherwise it is the server's own
 * refusal.
 */
function scopeError(headers: Headers, sender: Sender | undefined): PorticoError {
  const challenge = headers.get('www-authenticate') ?? '';
  const isAboutCredential = /insufficient_scope/.test(challenge);
  if (isAboutCredential && (sender?.hidden.length ?? 0) > 0) {
    const { scope } = readChallenge(challenge);
    if (scope !== undefined) return new ScopeWanted(scope);
    return new PorticoError('upstream_scope', 'The stored credential lacks a permission');
  }
  return new PorticoError('upstream_scope', 'The server forbids the request (403)');
}

/**
 * @param body the answer's text if it was JSON, else ''
 * @returns the upstream's own JSON-RPC error to this request, or why there is none
 */
export function statusError(
  status: number,
  headers: Headers,
  body: string,
  request: { id: RequestId; inSession: boolean; endpoint?: Sender },
): PorticoError | RawResponse | 'session_forgotten' {
  const response = responseOf(body, request.id);
  if (status === 404 && request.inSession) return 'session_forgotten';
  // The reference servers refuse an unknown session with 400 and this code, before dispatch.
  if (status === 400 && request.inSession && errorIn(body).error['code'] === TRANSPORT_REFUSAL) {
    return 'session_forgotten';
  }
  if (status === 401) return authError(request.endpoint);
  if (status === 403) return scopeError(headers, request.endpoint);
  if (status === 408 || status === 425 || status === 429) {
    return new PorticoError('upstream_rate_limited', undefined, retryAfter(headers));
  }
  if (response) return response;
  const detail = `The server answered ${status}${saidUnnamed(body, request.endpoint)}`;
  if (status >= 500) return new PorticoError('upstream_5xx', detail, retryAfter(headers));
  if (status >= 400) return new PorticoError('upstream_4xx', detail);
  if (status >= 300) return new PorticoError('upstream_redirect');
  return new PorticoError('upstream_no_response');
}

/** Returns the error for an answer whose body is not read. */
export function refusalOf({ status, headers }: Response, endpoint: Sender): PorticoError {
  const error = statusError(status, headers, '', { id: '', inSession: false, endpoint });
  return error instanceof PorticoError ? error : new PorticoError('upstream_no_response');
}

/** Longest wait that is repeated to a caller, in milliseconds: a day. */
const MAX_RETRY_MS = 86_400_000;

function retryAfter(headers: Headers): { retryAfterSeconds?: number } {
  const ms = toRetryAfterMs(headers, Date.now(), MAX_RETRY_MS);
  return ms === undefined ? {} : { retryAfterSeconds: Math.ceil(ms / 1_000) };
}

function responseOf(body: string, id: RequestId): RawResponse | undefined {
  if (body === '') return undefined;
  try {
    const message = parseMessage(body, id);
    return message.kind === 'response' && 'error' in message ? message : undefined;
  } catch (error) {
    if (error instanceof PorticoError) return undefined;
    throw error;
  }
}

/**
 * Returns what an error says that names no request, as one that is made before the request is read (2025-11-25, transports); empty if the
 * text is no such error.
 */
export function saidUnnamed(body: string, sender: Sender | undefined): string {
  const { id, error } = errorIn(body);
  if (id !== null || !isRpcError(error)) return '';
  const unnamed = { kind: 'response', error: JSON.stringify(error), parsed: error } as const;
  return toSaid(withoutSecrets(unnamed, sender?.hidden ?? []).parsed);
}

function errorIn(body: string): { id: unknown; error: JsonObject } {
  const parsed = body === '' ? undefined : parsedOf(body);
  const { id = null, error } = isObject(parsed) ? parsed : {};
  return { id, error: isObject(error) ? error : {} };
}

function parsedOf(body: string): unknown {
  try {
    return parseWithin(body);
  } catch {
    return undefined;
  }
}
