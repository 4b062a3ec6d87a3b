/**
 * The MCP endpoint, both eras on one URL: `/mcp`, `/mcp/servers/{server}` and `/mcp/toolsets/{toolset}`. Parses once, decides
 * who calls and what they reach, hands over to the era's handler. No request without a credential
 * gets past the first check, and nothing is dispatched before all checks have passed.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { McpPorts } from './ports.ts';
import { sessionOwner } from '../shared/identity/object-owners.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import { toRpcErrorResponse } from '../shared/errors/to-json-rpc.ts';
import { readJsonBody, type JsonBody } from '../http/json-body.ts';
import { checkOrigin } from '../http/origin.ts';
import type { RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import { counted } from '../shared/limits/stream-count.ts';
import { withExactIds } from '../shared/json/exact-ids.ts';
import { isObject, isRequestId, type Era, type RequestId } from '../shared/protocol.ts';
import { clientCapabilitiesOf } from '../shared/client-capabilities.ts';
import { legacyClient, modernClient, viewerOfClient, SILENT_CLIENT, toAnswer } from './client.ts';
import { classify, isModernVersion, type Classified } from './classify.ts';
import { admit, liveSession, type Admitted } from './admit.ts';
import type { Endpoint } from './endpoint.ts';
import { isRelayed } from './methods/dispatch.ts';
import {
  cancelledRequest,
  checkBatch,
  checkLegacyVersion,
  handleBatch,
  handleLegacy,
  initializeResponse,
  negotiatedVersion,
} from './legacy/legacy.ts';
import { openLegacyStream } from './legacy/legacy-stream.ts';
import { handleModern } from './modern/modern.ts';
import { readParams } from './params.ts';
import { dropping, callerContext, toRequestContext } from './to-request-context.ts';

/** Serve one request to an MCP endpoint. */
export async function handleMcp(
  request: Request,
  url: URL,
  endpoint: () => Endpoint,
  ports: McpPorts,
  waitUntil: WaitUntil,
): Promise<Response> {
  // How an error is written before the body is read; after that the body decides.
  const claimed = request.headers.get('mcp-protocol-version');
  let era: Era = claimed !== null && isModernVersion(claimed) ? 'modern' : 'legacy';
  let id: RequestId | null = null;
  let bytes: RequestBytes | undefined;
  try {
    checkOrigin(url, request.headers.get('origin'), ports.config);
    const admitted = await admit(request, endpoint, ports, waitUntil);
    if (request.method === 'DELETE') return await endSession(admitted, ports);
    if (request.method === 'GET') return await openStream(admitted, ports);
    if (request.method !== 'POST') throw new PorticoError('method_not_allowed');
    bytes = ports.bytes.request(admitted.snapshot.caller.principalId);
    const { maxBodyBytes, json } = ports.config;
    const body = await readJsonBody(request, maxBodyBytes, json, bytes);
    withExactIds(body.json, body.text);
    if (isObject(body.json) && isRequestId(body.json['id'])) id = body.json['id'];
    const classified = classify(body.json, protocolHeaders(request.headers));
    era = classified.era;
    if (BEGINS.has(classified.kind)) ports.drain.check();
    const current = listsSomething(classified)
      ? await admitted.again(ports.config.listMaxAgeMs)
      : admitted;
    return await dispatch({ ...current, bytes }, classified, body, ports);
  } catch (thrown) {
    const error = toPorticoError(thrown);
    // An endpoint that is none is found out before the body is read; the answer names its request all the same.
    if (OF_ENDPOINTS.has(error.code) && !request.bodyUsed) id = await idOfBody(request, ports);
    const response = toRpcErrorResponse(error, id, era);
    if (response.status === 405) {
      response.headers.set('allow', era === 'modern' ? 'POST' : 'GET, POST, DELETE');
    }
    return response;
  } finally {
    // What goes on after this holds what it needs.
    bytes?.release();
  }
}

/** What begins something new; an answer to a question belongs to what is under way. */
const BEGINS: ReadonlySet<Classified['kind']> = new Set(['request', 'batch']);

/** What is wrong with an endpoint, for who has a credential. */
const OF_ENDPOINTS: ReadonlySet<ErrorCode> = new Set(['invalid_params', 'not_found']);

/** The id of the request in a body; null where it has none or cannot be read. */
async function idOfBody(request: Request, { bytes, config }: McpPorts): Promise<RequestId | null> {
  if (request.method !== 'POST') return null;
  const { maxBodyBytes, json: bounds } = config;
  // Of callers of no endpoint, all together.
  const held = bytes.request('');
  const body = await readJsonBody(request, maxBodyBytes, bounds, held).catch(() => undefined);
  held.release();
  const json = body && withExactIds(body.json, body.text);
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
  admitted: Admitted & { bytes: RequestBytes },
  classified: Classified,
  body: JsonBody,
  ports: McpPorts,
): Promise<Response> {
  if (classified.era === 'modern') {
    if (classified.kind === 'notification') return new Response(null, { status: 202 });
    const { headers } = admitted.request;
    const requestContext = {
      ...toRequestContext(admitted, modernClient(classified.request), ports, 'modern'),
      ...dropping(classified.request, admitted.bytes),
      readHeader: (name: string) => headers.get(name),
    };
    return handleModern(requestContext, classified.request, body.text);
  }
  checkLegacyVersion(admitted.request.headers);
  if (classified.kind === 'request' && classified.request.method === 'initialize') {
    readParams(body.text);
    const version = negotiatedVersion(classified.request);
    const { snapshot, endpoint } = admitted;
    const capabilitiesKey = clientCapabilitiesOf(classified.request.params?.['capabilities']);
    const { caller } = snapshot;
    const { sealed, ended } = await ports.sessions.open(
      caller,
      endpoint.path,
      version,
      capabilitiesKey,
    );
    for (const id of ended) admitted.waitUntil(ports.endUpstreams(sessionOwner(id), snapshot));
    const client = { ...SILENT_CLIENT, capabilities: capabilitiesKey };
    const opening = toRequestContext(admitted, client, ports, 'legacy');
    return initializeResponse(opening, classified.request, version, sealed);
  }
  const sessionId = liveSession(admitted, ports);
  const requestContext = toRequestContext(
    admitted,
    legacyClient(admitted.request, admitted.snapshot, sessionId),
    ports,
    'legacy',
  );
  if (classified.kind === 'batch') {
    const version = admitted.request.headers.get('mcp-protocol-version');
    checkBatch(version, admitted.facts?.protocolVersion);
    return handleBatch(requestContext, body.text);
  }
  if (classified.kind === 'request') {
    const { request } = classified;
    const serve = (signal: AbortSignal) =>
      handleLegacy(
        {
          ...requestContext,
          ...dropping(request, admitted.bytes),
          context: { ...requestContext.context, signal },
        },
        request,
        body.text,
      );
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

/** DELETE ends a legacy session. */
async function endSession(admitted: Admitted, ports: McpPorts): Promise<Response> {
  const { snapshot, waitUntil } = admitted;
  const sessionId = liveSession(admitted, ports);
  if (sessionId === undefined) {
    throw new PorticoError('session_required', 'DELETE needs an Mcp-Session-Id header');
  }
  await ports.sessions.end(sessionId);
  waitUntil(ports.endUpstreams(sessionOwner(sessionId), snapshot));
  return new Response(null, { status: 200 });
}

/** What ends a session closes its streams, so these look up its row rarely; oldest one, in milliseconds. */
const STREAM_SESSION_MS = 120_000;

/** GET opens the stream of a legacy session. */
async function openStream(admitted: Admitted, ports: McpPorts): Promise<Response> {
  const { request, snapshot, facts } = admitted;
  const sessionId = liveSession(admitted, ports);
  const client = legacyClient(request, snapshot, sessionId);
  const release = ports.openStreams.open(snapshot.caller.principalId);
  const stream = {
    release,
    headers: request.headers,
    owner: sessionId === undefined ? undefined : sessionOwner(sessionId),
    callerContext: { viewer: viewerOfClient(admitted.viewer, 'legacy', client) },
    gateway: ports.gateway,
    protocolVersion: facts?.protocolVersion ?? '',
    keepAliveMs: ports.config.keepAliveMs,
    isAllowed: async () =>
      liveSession(await admitted.again(undefined, STREAM_SESSION_MS), ports) === sessionId,
    now: () => callerContext(admitted, ports, 'legacy', client),
  };
  return counted(release, async () => {
    const onOpen = await ports.openStreams.turn(snapshot.caller.principalId);
    return counted(onOpen, () => openLegacyStream({ ...stream, onOpen }, ports.streams));
  });
}
