/**
 * GET of the legacy era: the stream on which a session hears what belongs to no request of its own.
 * Resumes after `Last-Event-ID`. Source: MCP 2025-11-25, transports, Listening for Messages.
 */
import type { Caller } from '../access/principal.ts';
import { PorticoError } from '../errors/portico-error.ts';
import { LEGACY_VERSIONS, MODERN_VERSION } from '../protocol.ts';
import { LISTS } from '../session/news.ts';
import { toSseText } from '../lib/sse-events.ts';
import type { Frame } from '../session/stream-frames.ts';
import type { StreamOpening } from '../session/stream-opening.ts';
import type { Streams } from '../session/streams.ts';
import { audienceOf, type Scope } from './endpoint.ts';
import { streamResponse } from './stream-response.ts';

/** From this version on clients take an event without data, which only names an id. */
const PRIMING_SINCE = '2025-11-25';

export interface LegacyStream {
  headers: Headers;
  /** Name of the session's object; undefined where the request names no session. */
  owner: string | undefined;
  caller: Caller;
  scope: Scope;
  protocolVersion: string;
  keepAliveMs: number;
  isAllowed(): Promise<boolean>;
}

/** @throws PorticoError `method_not_allowed`, `not_acceptable`, `session_required` */
export async function openLegacyStream(
  { headers, owner, caller, scope, protocolVersion, keepAliveMs, isAllowed }: LegacyStream,
  streams: Streams,
): Promise<Response> {
  const version = headers.get('mcp-protocol-version') ?? protocolVersion;
  if (version === MODERN_VERSION) throw new PorticoError('method_not_allowed');
  if (version !== '' && !LEGACY_VERSIONS.includes(version)) {
    throw new PorticoError('invalid_request', `Unsupported protocol version: ${version}`);
  }
  if (!/text\/(event-stream|\*)|\*\/\*/i.test(headers.get('accept') ?? '')) {
    throw new PorticoError('not_acceptable', 'A stream needs Accept: text/event-stream');
  }
  if (owner === undefined) {
    throw new PorticoError('session_required', 'A stream needs an Mcp-Session-Id header');
  }
  const lastEventId = headers.get('last-event-id');
  const opening: StreamOpening = {
    owner,
    kind: 'session',
    audience: audienceOf(caller, scope),
    lists: LISTS,
    resources: [],
    ...(lastEventId === null ? {} : { lastEventId }),
  };
  const priming = protocolVersion >= PRIMING_SINCE ? 'data:\n\n' : '\n';
  const toText = ({ id, text }: Frame) => `id: ${id}\n${text === '' ? priming : toSseText(text)}`;
  const socket = await streams.connect(opening);
  return streamResponse(socket, { opening, keepAliveMs, toText, farewell: '', isAllowed });
}
