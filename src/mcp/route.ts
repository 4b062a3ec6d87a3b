/**
 * The MCP endpoint, both eras on one URL: `/mcp` and `/mcp/servers/{server}`. Parses once, decides
 * who calls and what they reach, hands over to the era's handler. No request without a credential
 * gets past the first check, and nothing is dispatched before all checks have passed.
 */
import { decideServer } from '../access/principal.ts';
import { parseBearer } from '../access/token.ts';
import type { Snapshot, Snapshots } from '../access/snapshots.ts';
import { PorticoError, toPorticoError } from '../errors/portico-error.ts';
import { toRpcErrorResponse } from '../errors/to-json-rpc.ts';
import type { Config } from '../env.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { readJsonBody, type JsonBody } from '../http/json-body.ts';
import { checkOrigin } from '../http/origin.ts';
import { rawMembers } from '../lib/json-spans.ts';
import { isObject, isRequestId, LEGACY_VERSIONS, type Era, type RequestId } from '../protocol.ts';
import { principalOwner, sessionOwner, type Sessions } from '../session/sessions.ts';
import type { SessionFacts } from '../session/sealed-id.ts';
import { classify, type Classified } from './classify.ts';
import { scopeOf, type Endpoint, type Scope } from './endpoint.ts';
import type { Exchange } from './requests.ts';
import { handleBatch, handleLegacy, initializeResponse, negotiatedVersion } from './legacy.ts';
import { handleModern } from './modern.ts';

export interface McpPorts {
  config: Config;
  snapshots: Snapshots;
  gateway: Gateway;
  sessions: Sessions;
  /** End what a session has at its upstreams; nobody waits for it. */
  endUpstreams(owner: string, snapshot: Snapshot): Promise<void>;
}

type Defer = (work: Promise<unknown>) => void;

/** Everything known of a request once its credential has been checked. */
interface Admitted {
  request: Request;
  endpoint: Endpoint;
  snapshot: Snapshot;
  scope: Scope;
  facts: SessionFacts | undefined;
  defer: Defer;
}

/** Serve one request to an MCP endpoint. */
export async function handleMcp(
  request: Request,
  url: URL,
  endpoint: () => Endpoint,
  ports: McpPorts,
  defer: Defer,
): Promise<Response> {
  let era: Era = 'legacy';
  let id: RequestId | null = null;
  try {
    checkOrigin(url, request.headers.get('origin'), ports.config);
    const admitted = await admit(request, endpoint, ports, defer);
    if (request.method === 'DELETE') return await endSession(admitted, ports);
    if (request.method !== 'POST') return methodNotAllowed();
    const body = await readJsonBody(request, ports.config.maxBodyBytes);
    if (isObject(body.json) && isRequestId(body.json['id'])) id = body.json['id'];
    const classified = classify(body.json, protocolHeaders(request.headers));
    era = classified.era;
    return await dispatch(admitted, classified, body, ports);
  } catch (thrown) {
    return toRpcErrorResponse(toPorticoError(thrown), id, era);
  }
}

/** Who calls, on which snapshot, within which scope and session. */
async function admit(
  request: Request,
  endpoint: () => Endpoint,
  { snapshots, sessions }: McpPorts,
  defer: Defer,
): Promise<Admitted> {
  const token = parseBearer(request.headers.get('authorization'));
  if (token === undefined) throw new PorticoError('unauthorized');
  const sealed = request.headers.get('mcp-session-id');
  const facts = sealed === null ? undefined : await sessions.facts(sealed);
  const snapshot = await snapshots.load(token, facts?.id, defer);
  if (!snapshot) throw new PorticoError('unauthorized');
  const where = endpoint();
  const { caller, servers } = snapshot;
  const visible = { servers: servers.filter(({ id }) => decideServer(caller, id)) };
  const scope = scopeOf(where, visible);
  if (!scope) throw new PorticoError('not_found', 'No such endpoint');
  return { request, endpoint: where, snapshot, scope, facts, defer };
}

/**
 * The id of the legacy session a request names, or undefined where it names none.
 * @throws PorticoError `session_not_found`
 */
function liveSession(admitted: Admitted, { sessions }: McpPorts): string | undefined {
  const { request, snapshot, endpoint, facts, defer } = admitted;
  if (request.headers.get('mcp-session-id') === null) return undefined;
  const { caller, session } = snapshot;
  if (!facts || !sessions.isAlive(session, caller, endpoint.path, defer)) {
    throw new PorticoError('session_not_found', 'Session not found; initialize a new one');
  }
  return facts.id;
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
  const params = () => rawMembers(rawMembers(body.text).get('params') ?? '{}');
  if (classified.era === 'modern') {
    if (classified.kind === 'notification') return new Response(null, { status: 202 });
    return handleModern(toExchange(admitted, undefined, ports), classified.request, params());
  }
  checkLegacyVersion(admitted.request.headers);
  if (classified.kind === 'request' && classified.request.method === 'initialize') {
    const version = negotiatedVersion(classified.request);
    const { snapshot, endpoint } = admitted;
    const sealed = await ports.sessions.open(snapshot.caller, endpoint.path, version);
    const opening = toExchange(admitted, undefined, ports);
    return initializeResponse(opening, classified.request, version, sealed);
  }
  const exchange = toExchange(admitted, liveSession(admitted, ports), ports);
  if (classified.kind === 'batch') return handleBatch(exchange, body.text);
  if (classified.kind === 'request') return handleLegacy(exchange, classified.request, params());
  return new Response(null, { status: 202 });
}

function checkLegacyVersion(headers: Headers): void {
  const version = headers.get('mcp-protocol-version');
  if (version !== null && !LEGACY_VERSIONS.includes(version)) {
    throw new PorticoError('invalid_request', `Unsupported protocol version: ${version}`);
  }
}

/** @param sessionId id of the live legacy session, if the request is in one */
function toExchange(admitted: Admitted, sessionId: string | undefined, ports: McpPorts): Exchange {
  const { request, snapshot, scope, defer } = admitted;
  const { caller } = snapshot;
  const owner =
    sessionId === undefined
      ? (serverId: string) => principalOwner(caller.principalId, serverId)
      : () => sessionOwner(sessionId);
  const accept = request.headers.get('accept');
  return {
    caller,
    scope,
    gateway: ports.gateway,
    context: { signal: request.signal, owner, defer },
    pageSize: ports.config.pageSize,
    acceptsStream: accept === null || /text\/(event-stream|\*)|\*\/\*/i.test(accept),
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

function methodNotAllowed(): Response {
  const response = toRpcErrorResponse(new PorticoError('method_not_allowed'), null, 'legacy');
  response.headers.set('allow', 'POST, DELETE');
  return response;
}
