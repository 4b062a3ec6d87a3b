/**
 * Serves one message of a client, whatever transport brought it: decides who sent it and what the sender reaches, reads the body once, and
 * passes it to the handler of its era. Nothing is dispatched before all checks have passed.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { McpPorts } from './ports.ts';
import { sessionOwner } from '../shared/identity/object-owners.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import { toRpcErrorResponse } from '../shared/errors/to-json-rpc.ts';
import { type JsonBody } from '../http/json-body.ts';
import { toEnding, type Operation, type OperationFacts } from '../telemetry/operation.ts';
import type { RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import { withExactIds } from '../shared/json/json-spans.ts';
import { isObject, isRequestId, type Era, type RequestId } from '../shared/protocol.ts';
import { clientCapabilitiesOf } from '../shared/client-capabilities.ts';
import {
  legacyClient,
  modernClient,
  SILENT_CLIENT,
  toAnswer,
  dropping,
  toRequestContext,
} from './to-request-context.ts';
import { classify, isModernVersion, type Classified } from './classify.ts';
import type { Incoming } from './incoming.ts';
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
import { handleModern } from './modern/modern.ts';
import { readParams } from './params.ts';

/** Reads a message and counts its bytes in `bytes`. @throws PorticoError where it is too large or no JSON */
export type ReadBody = (bytes: RequestBytes) => JsonBody | Promise<JsonBody>;

/** Era in which an error is written before the body is read; once read, the body decides. */
export function claimedEra({ headers }: Incoming): Era {
  const claimed = headers.get('mcp-protocol-version');
  return claimed !== null && isModernVersion(claimed) ? 'modern' : 'legacy';
}

/** Serves a message; errors become responses too. */
export async function serveMessage(
  incoming: Incoming,
  read: ReadBody,
  endpoint: () => Endpoint,
  ports: McpPorts,
  waitUntil: WaitUntil,
  source: 'mcp' | 'sse' = 'mcp',
): Promise<Response> {
  const operation = ports.telemetry.begin(waitUntil, incoming.headers);
  operation.is({ source });
  let era = claimedEra(incoming);
  let id: RequestId | null = null;
  let bytes: RequestBytes | undefined;
  try {
    const admitted = await admit(incoming, endpoint, ports, waitUntil);
    bytes = ports.bytes.request(admitted.snapshot.caller.principalId);
    const body = await read(bytes);
    withExactIds(body.json, body.text);
    if (isObject(body.json) && isRequestId(body.json['id'])) id = body.json['id'];
    const classified = classify(body.json, protocolHeaders(incoming));
    era = classified.era;
    operation.is(toFacts(classified, admitted, incoming));
    if (classified.kind === 'request') operation.joins(classified.request.params?.['_meta']);
    if (BEGINS.has(classified.kind)) ports.drain?.check();
    const current = listsSomething(classified)
      ? await admitted.again(ports.config.listMaxAgeMs)
      : admitted;
    return await dispatch({ ...current, bytes, operation }, classified, body, ports);
  } catch (thrown) {
    const error = toPorticoError(thrown);
    operation.ends(toEnding(error.code));
    // Endpoint errors occur before the body is read; read it now, so that the error response carries the request's id.
    if (OF_ENDPOINTS.has(error.code) && !bytes) id = await idOf(read, ports);
    return toRpcErrorResponse(error, id, era);
  } finally {
    // Work that continues after this holds its own share.
    bytes?.release();
    operation.release();
  }
}

/** What telemetry records of a message. */
function toFacts(
  classified: Classified,
  { snapshot, facts }: Admitted,
  { headers }: Incoming,
): Partial<OperationFacts> {
  const { era, kind } = classified;
  const { principalId, tokenId } = snapshot.caller;
  const known: Partial<OperationFacts> = { era, method: kind, principalId };
  if (tokenId) known.tokenId = tokenId;
  const version = facts?.protocolVersion ?? headers.get('mcp-protocol-version');
  if (version) known.protocolVersion = version;
  if (facts) known.sessionId = facts.id;
  if (classified.kind !== 'request') return known;
  const { method, id } = classified.request;
  return { ...known, method, requestId: String(id) };
}

/** Kinds that start new work, which a drain refuses; a client's response belongs to a call that is running. */
const BEGINS: ReadonlySet<Classified['kind']> = new Set(['request', 'batch']);

/** Errors about an endpoint that a caller with a credential gets. */
const OF_ENDPOINTS: ReadonlySet<ErrorCode> = new Set(['invalid_params', 'not_found']);

/** Reads the id of the request in a message; null where it has none or cannot be read. */
async function idOf(read: ReadBody, { bytes }: McpPorts): Promise<RequestId | null> {
  // Counted together, under no principal.
  const held = bytes.request('');
  try {
    const { json, text } = await read(held);
    withExactIds(json, text);
    return isObject(json) && isRequestId(json['id']) ? json['id'] : null;
  } catch {
    return null;
  } finally {
    held.release();
  }
}

/** Whether a message lists something. Lists use a fresher registry, so that no client that was notified of a change gets the old list. */
function listsSomething(classified: Classified): boolean {
  if (classified.kind === 'batch') return true;
  return classified.kind === 'request' && classified.request.method.endsWith('/list');
}

function protocolHeaders({ headers }: Incoming) {
  return {
    version: headers.get('mcp-protocol-version'),
    method: headers.get('mcp-method'),
    name: headers.get('mcp-name'),
  };
}

async function dispatch(
  admitted: Admitted & { bytes: RequestBytes; operation: Operation },
  classified: Classified,
  body: JsonBody,
  ports: McpPorts,
): Promise<Response> {
  if (classified.era === 'modern') {
    if (classified.kind === 'notification') return new Response(null, { status: 202 });
    const { headers } = admitted.incoming;
    const requestContext = {
      ...toRequestContext(admitted, modernClient(classified.request), ports, 'modern'),
      ...dropping(classified.request, admitted.bytes),
      readHeader: (name: string) => headers.get(name),
    };
    return handleModern(requestContext, classified.request, body.text);
  }
  checkLegacyVersion(admitted.incoming.headers);
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
    legacyClient(admitted.incoming, admitted.snapshot, sessionId),
    ports,
    'legacy',
  );
  if (classified.kind === 'batch') {
    const version = admitted.incoming.headers.get('mcp-protocol-version');
    checkBatch(version, admitted.facts?.protocolVersion);
    return handleBatch(requestContext, body.text, (kind, message) =>
      hear(kind, message, sessionId, ports),
    );
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
    const { signal } = admitted.incoming;
    if (sessionId === undefined || !isRelayed(request.method)) return serve(signal);
    const { timers } = requestContext.context;
    return ports.cancellations.serve(sessionOwner(sessionId), request.id, signal, serve, timers);
  }
  if (!(await hear(classified.kind, body, sessionId, ports))) {
    throw new PorticoError('invalid_request', 'No call waits for this answer');
  }
  return new Response(null, { status: 202 });
}

/** Takes a legacy client's notification or answer. @returns false for an answer that no call waits for */
async function hear(
  kind: Classified['kind'],
  { json, text }: JsonBody,
  sessionId: string | undefined,
  ports: McpPorts,
): Promise<boolean> {
  if (sessionId === undefined) return true;
  const owner = sessionOwner(sessionId);
  const cancelledId = cancelledRequest(json);
  if (cancelledId !== undefined) await ports.cancellations.cancel(owner, cancelledId);
  if (kind !== 'response') return true;
  const { id, answer } = toAnswer(text);
  return ports.upstreamSessions.passAnswer(owner, id, answer);
}
