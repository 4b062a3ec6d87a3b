/**
 * Builds what the handlers of both eras work with from the admitted request and the client: its session, if any, and which server requests
 * it can answer, and how.
 */
import type { McpPorts } from './ports.ts';
import type { RequestContext, CallerContext } from './request-context.ts';
import { principalOwner, sessionOwner } from '../shared/identity/object-owners.ts';
import { directiveOfHeader } from '../gateway/cache/cache-control.ts';
import type { Operation } from '../telemetry/operation.ts';
import type { RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import {
  type Era,
  type LogLevel,
  type RpcRequest,
  isObject,
  META,
  type RequestId,
} from '../shared/protocol.ts';
import { RequestTimers } from '../http/deadline.ts';
import { capabilitiesKey, clientCapabilitiesOf } from '../shared/client-capabilities.ts';
import { listenOwner } from '../sessions/streams.ts';
import type { Admitted } from './admit.ts';
import type { Snapshot } from '../access/admission/snapshots.ts';
import { rawMembers } from '../shared/json/json-spans.ts';
import { visibleToClient } from '../gateway/steps/restrict.ts';
import type { CallContext } from '../upstream/protocol/call.ts';
import type { RawAnswer } from '../upstream/protocol/server-request.ts';
import type { Incoming } from './incoming.ts';
import type { EndpointViewer } from './endpoint.ts';

interface Client extends Pick<CallContext, 'capabilities' | 'questions'> {
  sessionId?: string | undefined;
}

/** A client that can answer no server request. */
export const SILENT_CLIENT: Client = { capabilities: {}, questions: 'ask' };

/** A modern client answers server requests with its next request. */
export function modernClient({ params }: RpcRequest): Client {
  const meta = params?.['_meta'];
  const capabilities = isObject(meta) ? clientCapabilitiesOf(meta[META.clientCapabilities]) : {};
  return { capabilities, questions: 'suspend' };
}

/** A legacy client answers server requests only in a session, on the stream of its call. */
export function legacyClient(
  incoming: Incoming,
  { session }: Snapshot,
  sessionId: string | undefined,
): Client {
  if (sessionId === undefined) return SILENT_CLIENT;
  const capabilities = acceptsStream(incoming) ? (session?.capabilities ?? {}) : {};
  return { sessionId, capabilities, questions: 'ask' };
}

/** Narrows a viewer to a client's era and capabilities: servers that speak both eras are used in the client's era. */
export function viewerOfClient(
  viewer: EndpointViewer,
  era: Era,
  { capabilities }: Client,
): EndpointViewer {
  return { ...viewer, visible: visibleToClient(viewer.visible, era, capabilities) };
}

/** Whether a request accepts an event stream as its response; without an `Accept` header it accepts everything. */
function acceptsStream({ headers }: Incoming): boolean {
  const accept = headers.get('accept');
  return accept === null || /text\/(event-stream|\*)|\*\/\*/i.test(accept);
}

/** Turns a client's response into the answer to a server request. */
export function toAnswer(text: string): { id: RequestId; answer: RawAnswer } {
  const members = rawMembers(text);
  const id = JSON.parse(members.get('id') ?? '""') as RequestId;
  const result = members.get('result');
  return { id, answer: result ? { result } : { error: members.get('error') ?? '{}' } };
}

/** Makes `dropParsed`, so that a waiting call does not keep its parsed params in memory. */
export function dropping(request: RpcRequest, bytes: RequestBytes) {
  return {
    dropParsed() {
      delete request.params;
      bytes.dropParsed();
    },
  };
}

/** @param admitted with the counter of the request's bytes in memory, and the request's telemetry */
export function toRequestContext(
  admitted: Admitted & { bytes: RequestBytes; operation: Operation },
  client: Client,
  ports: McpPorts,
  era: Era,
): RequestContext {
  const { incoming, waitUntil, bytes, operation } = admitted;
  const viewer = viewerOfClient(admitted.viewer, era, client);
  const { caller } = viewer;
  const { sessionId, capabilities, questions } = client;
  const key = capabilitiesKey(capabilities);
  const cacheControl = incoming.headers.get('cache-control');
  const owner =
    sessionId === undefined
      ? (serverId: string) => principalOwner(caller.principalId, serverId, key)
      : () => sessionOwner(sessionId);
  return {
    viewer,
    gateway: ports.gateway,
    ask: ports.ask,
    chats: ports.chats,
    context: {
      signal: incoming.signal,
      origin: admitted.endpoint.origin,
      timers: new RequestTimers(),
      owner,
      copies: admitted.snapshot.session?.copies,
      waitUntil,
      capabilities,
      questions,
      bytes,
      operation,
      onUpdated(serverId, uri, params) {
        const hearer = sessionId === undefined ? listenOwner(caller.principalId) : owner('');
        waitUntil(ports.streams.passUpdate(hearer, { serverId, uri, params }));
      },
    },
    streams: ports.streams,
    listening: {
      keepAliveMs: ports.config.keepAliveMs,
      open: () => ports.openStreams.open(caller.principalId),
      turn: () => ports.openStreams.turn(caller.principalId),
      now: () => callerContext(admitted, ports, era, client),
    },
    pageSize: ports.config.pageSize,
    acceptsStream: acceptsStream(incoming),
    cache: cacheControl === null ? undefined : directiveOfHeader(cacheControl),
    ...(sessionId === undefined ? {} : inSession(sessionId, key, admitted, ports)),
  };
}

/** Returns the caller and its view of the endpoint as they are now, as fresh as for a list. */
export async function callerContext(
  admitted: Admitted,
  { config }: McpPorts,
  era: Era,
  client: Client,
): Promise<CallerContext> {
  const { snapshot, viewer } = await admitted.again(config.listMaxAgeMs);
  const logLevel = snapshot.session?.logLevel;
  return { viewer: viewerOfClient(viewer, era, client), logLevel };
}

/** What a request can do only in a live legacy session. */
function inSession(sessionId: string, key: string, admitted: Admitted, ports: McpPorts) {
  const { sessions, streams, upstreamSessions, config } = ports;
  const { waitUntil, snapshot, facts } = admitted;
  const { session } = snapshot;
  const openChannel = () =>
    upstreamSessions.openQuestionChannel(sessionOwner(sessionId), config.questionTimeoutMs);
  return {
    version: facts?.protocolVersion,
    sessionObject: sessionOwner(sessionId),
    logLevel: session?.logLevel,
    async setLogLevel(level: LogLevel) {
      await sessions.setLogLevel(sessionId, level);
      waitUntil(streams.setLogLevel(sessionOwner(sessionId), level));
    },
    ...(key === '' ? {} : { openChannel }),
  };
}
