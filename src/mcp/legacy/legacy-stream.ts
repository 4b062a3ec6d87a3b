/**
 * GET of the legacy era: opens the session's notification stream, for messages that belong to none of its requests. Resumes after
 * `Last-Event-ID`. Source: MCP 2025-11-25, transports, Listening for Messages.
 */
import type { CallerContext } from '../request-context.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { isWanted } from '../../gateway/results/messages.ts';
import { LEGACY_VERSIONS, MODERN_VERSION } from '../../shared/protocol.ts';
import { LISTS, type ListEvent } from '../../shared/events.ts';
import { counted } from '../../shared/limits/stream-count.ts';
import { toSseText } from '../../http/sse-events.ts';
import type { Frame } from '../../sessions/stream-frames.ts';
import { loggedBy, type StreamOpening } from '../../sessions/stream-opening.ts';
import type { Streams } from '../../sessions/streams.ts';
import { audienceOf } from '../endpoint.ts';
import { changingLists, recheckLists, maySend, seenBy } from '../own-tools/own-lists.ts';
import { streamResponse } from '../reply/stream-response.ts';

/** Since this version, clients accept an event with empty data that only carries an id. */
const PRIMING_SINCE = '2025-11-25';

export interface LegacyStream {
  headers: Pick<Headers, 'get'>;
  /** Name of the session's object; undefined where the request names no session. */
  owner: string | undefined;
  callerContext: CallerContext;
  gateway: Gateway;
  protocolVersion: string;
  keepAliveMs: number;
  signal: AbortSignal;
  /** Called when the stream is open, or has ended before that. */
  onOpen(): void;
  release(): void;
  isAllowed(): Promise<boolean>;
  now(): Promise<CallerContext>;
}

/** @throws PorticoError `method_not_allowed`, `not_acceptable`, `session_required` */
export async function openLegacyStream(
  { headers, owner, callerContext, gateway, protocolVersion, ...rest }: LegacyStream,
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
  const lists = changingLists(callerContext.viewer, LISTS);
  const opening: StreamOpening = {
    owner,
    kind: 'session',
    audience: audienceOf(callerContext.viewer),
    lists,
    seen: await seenBy(gateway, await rest.now(), lists),
    resources: [],
    ...(lastEventId === null ? {} : { lastEventId }),
  };
  const priming = protocolVersion >= PRIMING_SINCE ? 'data:\n\n' : '\n';
  const toText = async ({ id, text }: Frame) => {
    const serverId = loggedBy(id);
    if (serverId !== undefined) {
      const { viewer, logLevel } = await rest.now();
      const isSeen = viewer.visible.servers.some(server => server.id === serverId);
      return isSeen && isWanted(text, logLevel) ? toSseText(text) : '';
    }
    if (text === '') return `id: ${id}\n${priming}`;
    return (await maySend(gateway, await rest.now(), text)) ? `id: ${id}\n${toSseText(text)}` : '';
  };
  const recheck = async (change: readonly ListEvent[]) =>
    recheckLists(gateway, await rest.now(), lists, change);
  const sessions = await streams.readSessions(
    owner,
    async () => (await rest.now()).viewer.visible.servers,
  );
  const isAllowed = () => {
    void sessions.check();
    return rest.isAllowed();
  };
  const release = () => {
    sessions.close();
    rest.release();
  };
  const terms = { ...rest, opening, toText, closingText: '', recheck, isAllowed, release };
  return counted(
    () => sessions.close(),
    async () => {
      return streamResponse(await streams.connect(opening), terms);
    },
  );
}
