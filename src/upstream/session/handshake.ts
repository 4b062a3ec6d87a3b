/** The legacy handshake: `initialize`, then `notifications/initialized`. Opens an upstream session if the server keeps one. */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { finalResponse } from '../protocol/final-response.ts';
import type { RawObject } from '../../shared/json/json-spans.ts';
import {
  IMPLEMENTATION,
  isObject,
  LATEST_LEGACY_VERSION,
  LEGACY_VERSIONS,
  RPC,
  type JsonObject,
} from '../../shared/protocol.ts';
import { post, postNotification } from './channel.ts';
import { endSession } from './end-session.ts';
import type { Deadline } from '../../http/deadline.ts';
import { type RawResponse, withoutSecrets } from '../protocol/message.ts';
import { toSaid } from '../protocol/error-text.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import type { NegotiatedProtocol } from '../protocol/wire-request.ts';
import { openSse, type SseConnection, type SseOptions } from '../streams/sse-connection.ts';

export interface Handshake {
  protocolVersion: string;
  sessionId?: string;
  capabilities: JsonObject;
  /** The server's own instructions for models: untrusted text. */
  instructions?: string;
}

/**
 * Requests `initialize`, with an older version after each refusal of a newer one: a server must answer with a version of its own, but some
 * refuse those that they do not know.
 * @param capabilities of the client that it is made for
 * @param send sends the params of one request
 */
async function initialize<T>(
  capabilities: JsonObject = {},
  send: (params: RawObject) => Promise<T & { response: RawResponse }>,
): Promise<T & { response: RawResponse }> {
  let version = LATEST_LEGACY_VERSION;
  for (;;) {
    const params = new Map([
      ['protocolVersion', JSON.stringify(version)],
      ['capabilities', JSON.stringify(capabilities)],
      ['clientInfo', JSON.stringify(IMPLEMENTATION)],
    ]);
    const answered = await send(params);
    const older = olderThan(version, answered.response);
    if (older === undefined) return answered;
    version = older;
  }
}

/**
 * Returns the version to try after a server refused one: the newest that its error names, as in the example of the specification, or the
 * next if it names none; undefined if the error is about something else.
 * Source: MCP 2025-11-25, lifecycle, Error Handling.
 */
function olderThan(refused: string, response: RawResponse): string | undefined {
  const { code, data } = 'error' in response ? response.parsed : {};
  const older = LEGACY_VERSIONS.filter(version => version < refused);
  const supported = isObject(data) ? data['supported'] : undefined;
  if (Array.isArray(supported)) return older.find(version => supported.includes(version));
  return code === RPC.invalidParams ? older[0] : undefined;
}

/**
 * Reads the result of `initialize`.
 * @param endpoint the server, whose refusal must not repeat what it was sent
 * @throws PorticoError if the server refused or speaks no revision that Portico knows
 */
function parseInitializeResult(
  response: RawResponse,
  { hidden }: Pick<UpstreamEndpoint, 'hidden'>,
): Handshake {
  if ('error' in response) {
    const { parsed } = withoutSecrets(response, hidden);
    const detail = `The server refused to initialize${toSaid(parsed)}`;
    throw new PorticoError('upstream_4xx', detail);
  }
  const { protocolVersion, capabilities, instructions } = response.parsed;
  if (typeof protocolVersion !== 'string' || !LEGACY_VERSIONS.includes(protocolVersion)) {
    throw new PorticoError('upstream_bad_message', 'The server speaks no known protocol version');
  }
  return {
    protocolVersion,
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/**
 * How a server is reached before it has chosen a version: no header names one, since servers refuse a header with a version that they do
 * not know (400), before they read the request that negotiates it. Source: MCP 2025-06-18, transports, Protocol Version Header.
 */
const OPENING: NegotiatedProtocol = { era: 'legacy', protocolVersion: '' };

/** Performs the handshake over Streamable HTTP; if it fails once the server has opened a session, the session is ended. */
export async function initializeHttp(
  endpoint: UpstreamEndpoint,
  deadline: Deadline,
  maxBytes: number,
  capabilities?: JsonObject,
): Promise<Handshake> {
  let opened = '';
  const { response, headers } = await initialize(capabilities, async params => {
    // A server may have opened a session for an offer that it refused.
    if (SESSION_ID.test(opened))
      void endSession(endpoint, { sessionId: opened, protocolVersion: '' });
    const reply = await post(endpoint, OPENING, 'initialize', params, deadline, maxBytes);
    opened = reply.headers.get('mcp-session-id') ?? '';
    return { response: await finalResponse(reply), headers: reply.headers };
  });
  const sessionId = headers.get('mcp-session-id');
  if (sessionId !== null && !SESSION_ID.test(sessionId)) {
    throw new PorticoError('upstream_bad_message', 'The session id of the server is not valid');
  }
  let { protocolVersion } = OPENING;
  try {
    const found = parseInitializeResult(response, endpoint);
    ({ protocolVersion } = found);
    const handshake = sessionId === null ? found : { ...found, sessionId };
    const protocol: NegotiatedProtocol = { era: 'legacy', ...handshake };
    await postNotification(endpoint, protocol, { method: 'notifications/initialized' }, deadline);
    return handshake;
  } catch (error) {
    void endSession(endpoint, { sessionId: sessionId ?? '', protocolVersion });
    throw error;
  }
}

/** Opens an HTTP+SSE connection and performs the handshake on it; if that fails, the connection is closed. */
export async function initializeSse(
  endpoint: UpstreamEndpoint,
  options: SseOptions,
  deadline: Deadline,
  capabilities?: JsonObject,
): Promise<Handshake & { channel: SseConnection }> {
  const channel = await openSse(endpoint, options, deadline);
  try {
    const { response } = await initialize(capabilities, async params => ({
      response: await channel.request('initialize', params, deadline),
    }));
    const found = parseInitializeResult(response, endpoint);
    channel.protocolVersion = found.protocolVersion;
    await channel.notify('notifications/initialized', deadline);
    return { ...found, channel };
  } catch (error) {
    channel.close();
    throw error;
  }
}
