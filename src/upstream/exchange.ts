/**
 * Sends one JSON-RPC request to an upstream by POST and reads the answer, in either form that the transport allows (JSON, or an event
 * stream with notifications before the response).
 *
 * Refuses: redirects, other content types and encodings, answers past the bound, answers that are no response to the request. Never sends
 * anything twice. A JSON answer is read whole before any of it is forwarded, so that a broken one becomes a clear error; events of a stream
 * are forwarded as they come. Source: MCP 2026-07-28 and 2025-11-25, Streamable HTTP.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import type { JsonBounds } from '../shared/json/json-spans.ts';
import {
  BodyTooLarge,
  isEventStream,
  isHeavy,
  mediaTypeOf,
  readText,
  roomToParse,
  toEventMeter,
  toMeter,
} from '../http/read-text.ts';
import { EventTooLarge, readEvents, SseParser, type Resumption } from '../http/sse-events.ts';
import type { RequestId } from '../shared/protocol.ts';
import type { RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import type { Deadline } from '../http/deadline.ts';
import type { UpstreamEndpoint } from './endpoint.ts';
import { parseMessage, type RawResponse, type UpstreamMessage } from './protocol/message.ts';
import { saidUnnamed, statusError } from './protocol/status-error.ts';
import { pause } from '../shared/util/pause.ts';

export interface ExchangeRequest {
  endpoint: UpstreamEndpoint;
  headers: Record<string, string>;
  /** JSON text of the request. */
  body: string;
  id: RequestId;
  /** The request names a session, so a 404 means that the server forgot it. */
  inSession: boolean;
  /** Counts the bytes of the answer in memory. */
  bytes?: RequestBytes | undefined;
  /** Bounds of the answer, if they are not the usual ones. */
  bounds?: JsonBounds | undefined;
}

export interface Reply {
  headers: Headers;
  /** HTTP status of the answer; absent if that is a success. */
  status?: number;
  /** The response, if it came without notifications before it. */
  response?: RawResponse;
  /** Otherwise every message in order, the response last. */
  messages?: AsyncGenerator<UpstreamMessage, void, undefined>;
}

/** The upstream forgot its session; the request was not executed. */
export class SessionForgotten extends Error {}

/**
 * Sends a request and reads up to its first message.
 * @throws PorticoError with an `upstream_*` code; SessionForgotten
 */
export async function exchange(
  request: ExchangeRequest,
  deadline: Deadline,
  maxBytes: number,
): Promise<Reply> {
  const response = await send(request, deadline);
  if (!ANSWERED.has(response.status)) {
    return failed(response, request, deadline, maxBytes);
  }
  // The request is never sent again, so its text is released here; the caller decides what else is kept.
  request.body = '';
  const type = mediaTypeOf(response.headers);
  const encoding = response.headers.get('content-encoding');
  if (encoding !== null && !DECODED.has(encoding.trim().toLowerCase())) {
    response.body?.cancel().catch(() => {});
    throw new PorticoError('upstream_bad_content_type', UNASKED);
  }
  if (type === 'application/json') {
    const text = await readAnswer(response, deadline, maxBytes, request.bytes);
    if (text === '') throw new PorticoError('upstream_no_response');
    const message = await parsed(text, request, deadline);
    if (message.kind !== 'response') {
      const said = text.length > MAX_ERROR_BYTES ? '' : saidUnnamed(text, request.endpoint);
      const detail = said === '' ? undefined : `The server answered with an error${said}`;
      throw new PorticoError('upstream_bad_message', detail);
    }
    return { headers: response.headers, response: message };
  }
  if (type === 'text/event-stream' && response.body) {
    const messages = readMessages(response.body, request, deadline, maxBytes);
    const first = await messages.next();
    if (!first.done && first.value.kind === 'response') {
      await messages.return();
      return { headers: response.headers, response: first.value };
    }
    return { headers: response.headers, messages: startingWith(first, messages) };
  }
  response.body?.cancel().catch(() => {});
  throw new PorticoError('upstream_bad_content_type');
}

/** Statuses that carry an answer: the transport names none, and some frameworks answer each POST with 201. */
const ANSWERED: ReadonlySet<number> = new Set([200, 201]);
/** Encodings that the platform asks servers for, and decodes. */
const DECODED: ReadonlySet<string> = new Set(['gzip', 'br', 'identity', '']);
const UNASKED = 'The answer is in an encoding that was not asked for; gzip and br are';

async function send(request: ExchangeRequest, deadline: Deadline): Promise<Response> {
  try {
    return await request.endpoint.fetch(request.endpoint.url, {
      method: 'POST',
      headers: request.headers,
      body: request.body,
      redirect: 'manual',
      signal: deadline.signal,
    });
  } catch (error) {
    const known = error instanceof PorticoError ? error : undefined;
    throw deadline.explain(known ?? new PorticoError('upstream_unreachable'));
  }
}

async function readAnswer(
  response: Response,
  deadline: Deadline,
  maxBytes: number,
  bytes?: RequestBytes,
) {
  try {
    const meter = bytes && toMeter(bytes, deadline.signal);
    return await readText(response, response.headers, maxBytes, meter);
  } catch (error) {
    if (error instanceof PorticoError) throw error;
    if (error instanceof BodyTooLarge) throw new PorticoError('upstream_too_large');
    throw deadline.explain(new PorticoError('upstream_truncated'));
  }
}

/** Parses a message once there is room for that. */
async function parsed(
  text: string,
  { id, bytes, bounds }: ExchangeRequest,
  deadline: Deadline,
): Promise<UpstreamMessage> {
  if (!bytes || !isHeavy(text)) return parseMessage(text, id, bounds);
  const leave = await roomToParse(text, bytes, deadline.signal).catch((error: unknown) => {
    if (error instanceof PorticoError) throw error;
    throw deadline.explain(new PorticoError('upstream_truncated'));
  });
  try {
    return parseMessage(text, id, bounds);
  } finally {
    leave();
  }
}

/** Most bytes that are read of an answer with an error status, and characters of any that names no request. */
const MAX_ERROR_BYTES = 1_048_576;

/**
 * Handles an answer with another status: a JSON-RPC error to this request passes, everything else becomes an error with a code. If the body
 * is too large to be read, the status decides.
 */
async function failed(
  response: Response,
  request: ExchangeRequest,
  deadline: Deadline,
  maxBytes: number,
): Promise<Reply> {
  const isJson = mediaTypeOf(response.headers).includes('json');
  let text = '';
  const most = Math.min(maxBytes, MAX_ERROR_BYTES);
  if (isJson && response.status >= 400) {
    text = await readAnswer(response, deadline, most, request.bytes).catch((error: unknown) => {
      if (error instanceof PorticoError && error.code === 'upstream_too_large') return '';
      throw error;
    });
  } else response.body?.cancel().catch(() => {});
  const outcome = statusError(response.status, response.headers, text, request);
  if (outcome === 'session_forgotten') throw new SessionForgotten();
  if (outcome instanceof PorticoError) throw outcome;
  return { headers: response.headers, status: response.status, response: outcome };
}

/** Yields the messages of an event stream, ending with the response to the request. */
async function* readMessages(
  opened: ReadableStream<Uint8Array>,
  request: ExchangeRequest,
  deadline: Deadline,
  maxBytes: number,
): AsyncGenerator<UpstreamMessage, void, undefined> {
  let body: ReadableStream<Uint8Array> | undefined = opened;
  const { bytes } = request;
  const onHeld = bytes && toEventMeter(bytes, maxBytes, deadline.signal);
  let failure: ErrorCode = 'upstream_no_response';
  let resumption: Resumption | undefined;
  for (let resumed = 0; body && resumed <= MAX_RESUMED; resumed += 1) {
    const parser = new SseParser(maxBytes, resumption);
    try {
      for await (const event of readEvents(body, maxBytes, parser, deadline.onEnd, onHeld)) {
        if (event.event !== 'message' || event.data === '') continue;
        const message = await parsed(event.data, request, deadline);
        if (message.kind === 'foreign') continue;
        if (message.kind === 'response') bytes?.settle();
        yield message;
        if (message.kind === 'response') return;
      }
    } catch (error) {
      if (error instanceof PorticoError) throw error;
      if (error instanceof EventTooLarge) throw new PorticoError('upstream_too_large');
      failure = 'upstream_truncated';
    }
    resumption = parser.resumption;
    body = await resume(request, resumption, deadline);
  }
  throw deadline.explain(new PorticoError(failure));
}

/** Most times that one answer is resumed: more than a server needs that has it polled, within the deadline of a call. */
const MAX_RESUMED = 1_000;
/** The pause before that, in milliseconds, if the server names none; and the limits of one that it names. */
const RETRY_MS = 1_000;
const NAMED_RETRY_MS = { min: 100, max: 30_000 };

/**
 * Resumes a stream of the legacy era that ended before its response (2025-11-25, Resumability): a GET that names the last event, with or
 * without a session. The request itself is not sent again.
 * @returns undefined if the stream cannot be resumed
 */
async function resume(
  { endpoint, headers }: ExchangeRequest,
  { lastEventId, retryMs = RETRY_MS }: Resumption,
  { signal }: Deadline,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const isModern = headers['mcp-method'] !== undefined;
  if (isModern || lastEventId === '' || signal.aborted) return undefined;
  const { min, max } = NAMED_RETRY_MS;
  await pause(Math.min(Math.max(retryMs, min), max), signal);
  const { 'content-type': _unused, ...kept } = headers;
  const init = { headers: { ...kept, accept: 'text/event-stream', 'last-event-id': lastEventId } };
  const response = await endpoint
    .fetch(endpoint.url, { ...init, redirect: 'manual', signal })
    .catch(() => undefined);
  if (response?.status === 200 && isEventStream(response) && response.body) return response.body;
  response?.body?.cancel().catch(() => {});
  return undefined;
}

async function* startingWith(
  first: IteratorResult<UpstreamMessage, void>,
  rest: AsyncGenerator<UpstreamMessage, void, undefined>,
): AsyncGenerator<UpstreamMessage, void, undefined> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}
