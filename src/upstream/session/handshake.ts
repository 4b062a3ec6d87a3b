/** The legacy handshake: `initialize`, then `notifications/initialized`. Opens an upstream session if the server keeps one. */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { finalResponse } from '../protocol/final-response.ts';
import type { RawObject } from '../../shared/json/json-spans.ts';
import {
  IMPLEMENTATION,
  isObject,
  LATEST_LEGACY_VERSION,
  LEGACY_VERSIONS,
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

/** Returns the params of `initialize`, with the capabilities of the client that it is made for. */
function initializeParams(capabilities: JsonObject = {}): RawObject {
  return new Map([
    ['protocolVersion', JSON.stringify(LATEST_LEGACY_VERSION)],
    ['capabilities', JSON.stringify(capabilities)],
    ['clientInfo', JSON.stringify(IMPLEMENTATION)],
  ]);
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

/** Performs the handshake over Streamable HTTP; if it fails once the server has opened a session, the session is ended. */
export async function initializeHttp(
  endpoint: UpstreamEndpoint,
  deadline: Deadline,
  maxBytes: number,
  capabilities?: JsonObject,
): Promise<Handshake> {
  const opening: NegotiatedProtocol = { era: 'legacy', protocolVersion: LATEST_LEGACY_VERSION };
  const reply = await post(
    endpoint,
    opening,
    'initialize',
    initializeParams(capabilities),
    deadline,
    maxBytes,
  );
  const response = await finalResponse(reply);
  const sessionId = reply.headers.get('mcp-session-id');
  if (sessionId !== null && !SESSION_ID.test(sessionId)) {
    throw new PorticoError('upstream_bad_message', 'The session id of the server is not valid');
  }
  let { protocolVersion } = opening;
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
    const params = initializeParams(capabilities);
    const response = await channel.request('initialize', params, deadline);
    const found = parseInitializeResult(response, endpoint);
    await channel.notify('notifications/initialized', deadline);
    return { ...found, channel };
  } catch (error) {
    channel.close();
    throw error;
  }
}
