/**
 * The MCP endpoint, both eras on one URL: `/mcp`, `/mcp/servers/{server}` and `/mcp/toolsets/{toolset}`. Parses once, decides
 * who calls and what they reach, hands over to the era's handler. No request without a credential
 * gets past the first check, and nothing is dispatched before all checks have passed.
 */
import type { AskService } from '../ask/ask-service.ts';
import type { Snapshot, Snapshots } from '../access/snapshots.ts';
import { PorticoError, toPorticoError } from '../errors/portico-error.ts';
import type { ErrorCode } from '../errors/table.ts';
import { toRpcErrorResponse } from '../errors/to-json-rpc.ts';
import type { Config } from '../config.ts';
import { wishOfHeader } from '../cache/cache-wish.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { readJsonBody, type JsonBody } from '../http/json-body.ts';
import { checkOrigin } from '../http/origin.ts';
import {
  isObject,
  isRequestId,
  LEGACY_VERSIONS,
  type Era,
  type LogLevel,
  type RequestId,
} from '../protocol.ts';
import { principalOwner, sessionOwner, type Sessions } from '../session/sessions.ts';
import type { QuestionLine } from '../session/question-line.ts';
import type { Cancellations } from '../session/cancellations.ts';
import { listenOwner, type Streams } from '../session/streams.ts';
import { askableKey, askableOf } from '../session/askable.ts';
import type { RawAnswer } from '../upstream/question.ts';
import {
  acceptsStream,
  legacyClient,
  modernClient,
  scopeOfClient,
  SILENT_CLIENT,
  toAnswer,
  type Client,
} from './client.ts';
import type { ChatPort } from './chat-calls.ts';
import { classify, isModernVersion, type Classified } from './classify.ts';
import { admit, liveSession, type Admitted } from './admit.ts';
import type { Endpoint } from './endpoint.ts';
import { isRelayed, type Exchange, type Standing } from './requests.ts';
import { handleBatch, handleLegacy, initializeResponse, negotiatedVersion } from './legacy.ts';
import { openLegacyStream } from './legacy-stream.ts';
import { handleModern } from './modern.ts';
import { readParams } from './params.ts';

export interface McpPorts {
  config: Config;
  snapshots: Snapshots;
  gateway: Gateway;
  ask: Pick<AskService, 'ask'>;
  chats: ChatPort;
  sessions: Sessions;
  streams: Streams;
  cancellations: Cancellations;
  /** What a session's object does for questions. */
  upstreamSessions: {
    openLine(owner: string, timeoutMs: number): Promise<QuestionLine>;
    passAnswer(owner: string, id: RequestId, answer: RawAnswer): Promise<boolean>;
  };
  /** End what a session has at its upstreams; nobody waits for it. */
  endUpstreams(owner: string, snapshot: Snapshot): Promise<void>;
}

type Defer = (work: Promise<unknown>) => void;

/** Serve one request to an MCP endpoint. */
export async function handleMcp(
  request: Request,
  url: URL,
  endpoint: () => Endpoint,
  ports: McpPorts,
  defer: Defer,
): Promise<Response> {
  // How an error is written before the body is read; after that the body decides.
  const claimed = request.headers.get('mcp-protocol-version');
  let era: Era = claimed !== null && isModernVersion(claimed) ? 'modern' : 'legacy';
  let id: RequestId | null = null;
  try {
    checkOrigin(url, request.headers.get('origin'), ports.config);
    const admitted = await admit(request, endpoint, ports, defer);
    if (request.method === 'DELETE') return await endSession(admitted, ports);
    if (request.method === 'GET') return await openStream(admitted, ports);
    if (request.method !== 'POST') throw new PorticoError('method_not_allowed');
    const body = await readJsonBody(request, ports.config.maxBodyBytes, ports.config.json);
    if (isObject(body.json) && isRequestId(body.json['id'])) id = body.json['id'];
    const classified = classify(body.json, protocolHeaders(request.headers));
    era = classified.era;
    const current = listsSomething(classified)
      ? await admitted.again(ports.config.listMaxAgeMs)
      : admitted;
    return await dispatch(current, classified, body, ports);
  } catch (thrown) {
    const error = toPorticoError(thrown);
    // An endpoint that is none is found out before the body is read; the answer names its request all the same.
    if (OF_ENDPOINTS.has(error.code) && !request.bodyUsed) id = await idOfBody(request, ports);
    const response = toRpcErrorResponse(error, id, era);
    if (response.status === 405) response.headers.set('allow', 'GET, POST, DELETE');
    return response;
  }
}

/** What is wrong with an endpoint, for who has a credential. */
const OF_ENDPOINTS: ReadonlySet<ErrorCode> = new Set(['invalid_params', 'not_found']);

/** The id of the request in a body; null where it has none or cannot be read. */
async function idOfBody(request: Request, { config }: McpPorts): Promise<RequestId | null> {
  if (request.method !== 'POST') return null;
  const body = await readJsonBody(request, config.maxBodyBytes, config.json).catch(() => undefined);
  const { json } = body ?? {};
  return isObject(json) && isRequestId(json['id']) ? json['id'] : null;
}

/** A list is read from a registry so fresh that nobody told of a change sees the old one. */
function listsSomething(classified: Classified): boolean {
  if (classified.kind === 'batch') return true;
  return classified.kind === 'request' && classified.request.method.endsWith('/list');
}

function protocolHeaders(headers: Headers) {
  return {
    version: headers.get('mcp-protocol-version'),
    method: headers.get('mcp-method'),
    name: headers.get('mcp-name'),
  };
}

async function dispatch(
  admitted: Admitted,
  classified: Classified,
  body: JsonBody,
  ports: McpPorts,
): Promise<Response> {
  if (classified.era === 'modern') {
    if (classified.kind === 'notification') return new Response(null, { status: 202 });
    const { headers } = admitted.request;
    const exchange = {
      ...toExchange(admitted, modernClient(classified.request), ports, 'modern'),
      readHeader: (name: string) => headers.get(name),
    };
    return handleModern(exchange, classified.request, body.text);
  }
  checkLegacyVersion(admitted.request.headers);
  if (classified.kind === 'request' && classified.request.method === 'initialize') {
    readParams(body.text);
    const version = negotiatedVersion(classified.request);
    const { snapshot, endpoint } = admitted;
    const askable = askableOf(classified.request.params?.['capabilities']);
    const sealed = await ports.sessions.open(snapshot.caller, endpoint.path, version, askable);
    const client = { ...SILENT_CLIENT, capabilities: askable };
    const opening = toExchange(admitted, client, ports, 'legacy');
    return initializeResponse(opening, classified.request, version, sealed);
  }
  const sessionId = liveSession(admitted, ports);
  const exchange = toExchange(
    admitted,
    legacyClient(admitted.request, admitted.snapshot, sessionId),
    ports,
    'legacy',
  );
  if (classified.kind === 'batch') return handleBatch(exchange, body.text);
  if (classified.kind === 'request') {
    const { request } = classified;
    const serve = (signal: AbortSignal) =>
      handleLegacy({ ...exchange, context: { ...exchange.context, signal } }, request, body.text);
    const { signal } = admitted.request;
    if (sessionId === undefined || !isRelayed(request.method)) return serve(signal);
    return ports.cancellations.serve(sessionOwner(sessionId), request.id, signal, serve);
  }
  const cancelledId = cancelledRequest(body.json);
  if (sessionId !== undefined && cancelledId !== undefined) {
    await ports.cancellations.cancel(sessionOwner(sessionId), cancelledId);
  }
  if (classified.kind === 'response' && sessionId !== undefined) {
    const { id, answer } = toAnswer(body.text);
    const owner = sessionOwner(sessionId);
    if (!(await ports.upstreamSessions.passAnswer(owner, id, answer))) {
      throw new PorticoError('invalid_request', 'No call waits for this answer');
    }
  }
  return new Response(null, { status: 202 });
}

/** Id of the request a notification cancels, if it is such a one. */
function cancelledRequest(message: unknown): RequestId | undefined {
  if (!isObject(message) || message['method'] !== 'notifications/cancelled') return undefined;
  const id = isObject(message['params']) ? message['params']['requestId'] : undefined;
  return isRequestId(id) ? id : undefined;
}

function checkLegacyVersion(headers: Headers): void {
  const version = headers.get('mcp-protocol-version');
  if (version !== null && !LEGACY_VERSIONS.includes(version)) {
    throw new PorticoError('invalid_request', `Unsupported protocol version: ${version}`);
  }
}

function toExchange(admitted: Admitted, client: Client, ports: McpPorts, era: Era): Exchange {
  const { request, snapshot, defer } = admitted;
  const scope = scopeOfClient(admitted.scope, era, client);
  const { caller } = snapshot;
  const { sessionId, capabilities, questions } = client;
  const key = askableKey(capabilities);
  const owner =
    sessionId === undefined
      ? (serverId: string) => principalOwner(caller.principalId, serverId, key)
      : () => sessionOwner(sessionId);
  const hearer = sessionId === undefined ? listenOwner(caller.principalId) : owner('');
  return {
    caller,
    scope,
    gateway: ports.gateway,
    ask: ports.ask,
    chats: ports.chats,
    context: {
      signal: request.signal,
      owner,
      defer,
      capabilities,
      questions,
      hasStream: sessionId !== undefined,
      onUpdated: (serverId, uri, params) =>
        defer(ports.streams.tell(hearer, { serverId, uri, params })),
    },
    streams: ports.streams,
    listening: {
      keepAliveMs: ports.config.keepAliveMs,
      now: () => standing(admitted, ports, era, client),
    },
    pageSize: ports.config.pageSize,
    acceptsStream: acceptsStream(request),
    cache: wishOfHeader(request.headers.get('cache-control')),
    ...(sessionId === undefined ? {} : inSession(sessionId, key, admitted, ports)),
  };
}

/** Who calls now and what the endpoint comes to, on a state as fresh as for a list. */
async function standing(
  admitted: Admitted,
  { config }: McpPorts,
  era: Era,
  client: Client,
): Promise<Standing> {
  const { snapshot, scope } = await admitted.again(config.listMaxAgeMs);
  const logLevel = snapshot.session?.logLevel;
  return { caller: snapshot.caller, scope: scopeOfClient(scope, era, client), logLevel };
}

/** What a request in a live legacy session can do beside the others. */
function inSession(sessionId: string, askable: string, admitted: Admitted, ports: McpPorts) {
  const { sessions, streams, upstreamSessions, config } = ports;
  const { defer, snapshot } = admitted;
  const { session } = snapshot;
  const openLine = () =>
    upstreamSessions.openLine(sessionOwner(sessionId), config.questionTimeoutMs);
  return {
    sessionObject: sessionOwner(sessionId),
    logLevel: session?.logLevel,
    async setLogLevel(level: LogLevel) {
      await sessions.setLogLevel(sessionId, level);
      defer(streams.setLogLevel(sessionOwner(sessionId), level));
    },
    ...(askable === '' ? {} : { openLine }),
  };
}

/** DELETE ends a legacy session. */
async function endSession(admitted: Admitted, ports: McpPorts): Promise<Response> {
  const { snapshot, defer } = admitted;
  const sessionId = liveSession(admitted, ports);
  if (sessionId === undefined) {
    throw new PorticoError('session_required', 'DELETE needs an Mcp-Session-Id header');
  }
  await ports.sessions.end(sessionId);
  defer(ports.endUpstreams(sessionOwner(sessionId), snapshot));
  return new Response(null, { status: 200 });
}

/** GET opens the stream of a legacy session. */
function openStream(admitted: Admitted, ports: McpPorts): Promise<Response> {
  const { request, snapshot, facts } = admitted;
  const sessionId = liveSession(admitted, ports);
  const client = legacyClient(request, snapshot, sessionId);
  const stream = {
    headers: request.headers,
    owner: sessionId === undefined ? undefined : sessionOwner(sessionId),
    standing: {
      caller: snapshot.caller,
      scope: scopeOfClient(admitted.scope, 'legacy', client),
    },
    gateway: ports.gateway,
    protocolVersion: facts?.protocolVersion ?? '',
    keepAliveMs: ports.config.keepAliveMs,
    isAllowed: async () => liveSession(await admitted.again(), ports) === sessionId,
    now: () => standing(admitted, ports, 'legacy', client),
  };
  return openLegacyStream(stream, ports.streams);
}
