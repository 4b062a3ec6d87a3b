/**
 * Finds out which era and transport a server speaks: the modern probe first, then the legacy handshake, then the deprecated HTTP+SSE
 * transport. Network failures, 401, 403 and 5xx never decide on an era, except for a JSON-RPC error that says that the request is unknown,
 * or that came with 500: so does a legacy server that fails at a request that it does not know.
 * Source: MCP 2026-07-28, Streamable HTTP, Backward Compatibility.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { canonicalJson } from '../../shared/json/canonical-json.ts';
import { finalResponse } from '../protocol/final-response.ts';
import { isObject, MODERN_VERSION, RPC, type JsonObject } from '../../shared/protocol.ts';
import type { ServerProtocol } from '../../servers/registry/server-schema.ts';
import { createHttpChannel, post, type Channel } from '../session/channel.ts';
import type { Deadline } from '../../http/deadline.ts';
import { initializeHttp, initializeSse } from '../session/handshake.ts';
import { toSaid } from '../protocol/error-text.ts';
import { type RawResponse, withoutSecrets } from '../protocol/message.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import type { NegotiatedProtocol } from '../protocol/wire-request.ts';

/** An upstream whose protocol is negotiated, with a channel open to it. */
export interface Negotiated {
  verdict: ServerProtocol;
  protocol: NegotiatedProtocol;
  channel: Channel;
  capabilities: JsonObject;
  instructions?: string | undefined;
  /** When other instructions of a modern server were last taken over. */
  instructedAt?: number;
}

export interface NegotiateOptions {
  transport: 'http' | 'sse';
  maxBytes: number;
  /** Called for notifications that come outside of a request (HTTP+SSE only). */
  onNotification?: (method: string, text: string) => void;
}

/** Errors of a legacy POST by which an old HTTP+SSE server is recognised. */
const NOT_STREAMABLE = new Set(['upstream_4xx', 'upstream_bad_content_type']);

/** @throws PorticoError with an `upstream_*` code */
export async function negotiate(
  endpoint: UpstreamEndpoint,
  options: NegotiateOptions,
  deadline: Deadline,
): Promise<Negotiated> {
  if (options.transport === 'sse') return negotiateSse(endpoint, options, deadline);
  const { maxBytes } = options;
  const modern = await probeModern(endpoint, deadline, maxBytes);
  if (modern) {
    const protocol: NegotiatedProtocol = { era: 'modern', protocolVersion: MODERN_VERSION };
    return {
      verdict: {
        era: 'modern',
        protocolVersion: MODERN_VERSION,
        transport: 'http',
        sessionful: false,
      },
      protocol,
      channel: createHttpChannel(endpoint, protocol, maxBytes),
      ...modern,
    };
  }
  try {
    return await negotiateLegacy(endpoint, deadline, maxBytes);
  } catch (error) {
    if (!(error instanceof PorticoError) || !NOT_STREAMABLE.has(error.code)) throw error;
    return negotiateSse(endpoint, options, deadline).catch(() => {
      throw error;
    });
  }
}

async function negotiateLegacy(
  endpoint: UpstreamEndpoint,
  deadline: Deadline,
  maxBytes: number,
): Promise<Negotiated> {
  const found = await initializeHttp(endpoint, deadline, maxBytes);
  const { protocolVersion, sessionId, capabilities, instructions } = found;
  const protocol: NegotiatedProtocol = { era: 'legacy', protocolVersion, sessionId };
  return {
    verdict: {
      era: 'legacy',
      protocolVersion,
      transport: 'http',
      sessionful: sessionId !== undefined,
    },
    protocol,
    channel: createHttpChannel(endpoint, protocol, maxBytes),
    capabilities,
    instructions,
  };
}

async function negotiateSse(
  endpoint: UpstreamEndpoint,
  options: NegotiateOptions,
  deadline: Deadline,
): Promise<Negotiated> {
  const found = await initializeSse(endpoint, options, deadline);
  return {
    verdict: {
      era: 'legacy',
      protocolVersion: found.protocolVersion,
      transport: 'sse',
      sessionful: true,
    },
    protocol: { era: 'legacy', protocolVersion: found.protocolVersion },
    channel: found.channel,
    capabilities: found.capabilities,
    instructions: found.instructions,
  };
}

/** Returns what a modern server advertises; undefined if the answer shows that the server is not modern. */
async function probeModern(
  endpoint: UpstreamEndpoint,
  deadline: Deadline,
  maxBytes: number,
  isRetry = false,
): Promise<Advertised | undefined> {
  const protocol: NegotiatedProtocol = { era: 'modern', protocolVersion: MODERN_VERSION };
  let response: RawResponse;
  try {
    const reply = await post(endpoint, protocol, 'server/discover', new Map(), deadline, maxBytes);
    response = await finalResponse(reply);
    refuseOutage(reply.status ?? 200, withoutSecrets(response, endpoint.hidden));
  } catch (error) {
    if (error instanceof PorticoError && LEGACY_SIGNS.has(error.code)) return undefined;
    throw error;
  }
  if ('error' in response) {
    // A modern server that refused the version and yet lists it gets the probe once more.
    const isOffered = !isRetry && offersModern(response.parsed);
    return isOffered ? probeModern(endpoint, deadline, maxBytes, true) : undefined;
  }
  return toAdvertised(response);
}

/** What a modern server advertises. */
type Advertised = Pick<Negotiated, 'capabilities' | 'instructions'>;

/** Reads the result of `server/discover`; undefined if it shows that the server is not modern. */
function toAdvertised({ parsed }: RawResponse): Advertised | undefined {
  const { supportedVersions, capabilities, instructions } = parsed;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) {
    return undefined;
  }
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

/** Instructions alone are taken over at most this often: those with a time in them would make a new catalog at each discovery. */
const INSTRUCTIONS_MS = 600_000;

/**
 * Asks a modern server again what it advertises.
 * @returns what it advertises now, if that has changed; undefined too if the server fails to say
 * @throws PorticoError `upstream_4xx` if it is not modern any more
 */
export async function readChanged(
  { channel, capabilities, instructions, instructedAt = 0 }: Negotiated,
  deadline: Deadline,
): Promise<(Advertised & Pick<Negotiated, 'instructedAt'>) | undefined> {
  const response = await channel.request('server/discover', new Map(), deadline);
  if ('error' in response && !REFUSALS.has(response.parsed['code'])) return undefined;
  const now = toAdvertised(response);
  if (!now) throw new PorticoError('upstream_4xx', 'The server does not speak the modern era now');
  const formOf = (value: JsonObject) => canonicalJson(JSON.stringify(value));
  const isSame = now.instructions === instructions;
  const isSettled = isSame || Date.now() - instructedAt < INSTRUCTIONS_MS;
  if (isSettled && formOf(now.capabilities) === formOf(capabilities)) return undefined;
  return { ...now, instructedAt: isSame ? instructedAt : Date.now() };
}

/** @throws PorticoError `upstream_5xx` if the server, or what stands before it, is out of order */
function refuseOutage(status: number, { parsed }: RawResponse): void {
  if (status <= 500 || REFUSALS.has(parsed['code'])) return;
  throw new PorticoError('upstream_5xx', `The server answered ${status}${toSaid(parsed)}`);
}

/** Whether an error is an `UnsupportedProtocolVersionError` that lists the requested version. */
function offersModern({ code, data }: JsonObject): boolean {
  const supported = isObject(data) ? data['supported'] : undefined;
  const isAnswer = code === RPC.unsupportedProtocolVersion && Array.isArray(supported);
  return isAnswer && supported.includes(MODERN_VERSION);
}

/** JSON-RPC errors that say that the request is unknown, whatever the status. */
const REFUSALS = new Set<unknown>([RPC.methodNotFound, RPC.unsupportedProtocolVersion]);

/** Errors that a legacy server may give for a method that it does not know. */
const LEGACY_SIGNS = new Set([
  'upstream_4xx',
  'upstream_bad_content_type',
  'upstream_bad_json',
  'upstream_bad_message',
  'upstream_no_response',
  'upstream_truncated',
]);
