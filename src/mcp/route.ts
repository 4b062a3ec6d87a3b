/**
 * The MCP endpoints, both eras on one URL: `/mcp`, `/mcp/servers/{server}` and `/mcp/toolsets/{toolset}`, as Streamable HTTP: POST sends a
 * message, GET opens the stream of a legacy session, DELETE ends the session.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { McpPorts } from './ports.ts';
import { sessionOwner } from '../shared/identity/object-owners.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { toRpcErrorResponse } from '../shared/errors/to-json-rpc.ts';
import { readJsonBody } from '../http/json-body.ts';
import { checkOrigin } from '../http/entry-checks.ts';
import type { RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import { counted } from '../shared/limits/stream-count.ts';
import { legacyClient, viewerOfClient, callerContext } from './to-request-context.ts';
import { claimedEra, serveMessage } from './serve-message.ts';
import { admit, liveSession, type Admitted } from './admit.ts';
import type { Endpoint } from './endpoint.ts';
import { openLegacyStream } from './legacy/legacy-stream.ts';

/** Serves one request to an MCP endpoint. */
export async function handleMcp(
  request: Request,
  url: URL,
  endpoint: () => Endpoint,
  ports: McpPorts,
  waitUntil: WaitUntil,
): Promise<Response> {
  try {
    checkOrigin(url, request.headers.get('origin'), ports.config);
    if (request.method === 'POST') {
      const { maxBodyBytes, json } = ports.config;
      const read = (bytes: RequestBytes) => readJsonBody(request, maxBodyBytes, json, bytes);
      return await serveMessage(request, read, endpoint, ports, waitUntil);
    }
    const admitted = await admit(request, endpoint, ports, waitUntil);
    if (request.method === 'DELETE') return await endSession(admitted, ports);
    if (request.method === 'GET') return await openStream(admitted, ports);
    throw new PorticoError('method_not_allowed');
  } catch (thrown) {
    const era = claimedEra(request);
    const response = toRpcErrorResponse(toPorticoError(thrown), null, era);
    if (response.status === 405) {
      response.headers.set('allow', era === 'modern' ? 'POST' : 'GET, POST, DELETE');
    }
    return response;
  }
}

/** Ends a legacy session. @throws PorticoError `session_required`, `session_not_found` */
export async function endSession(admitted: Admitted, ports: McpPorts): Promise<Response> {
  const { snapshot, waitUntil } = admitted;
  const sessionId = liveSession(admitted, ports);
  if (sessionId === undefined) {
    throw new PorticoError('session_required', 'DELETE needs an Mcp-Session-Id header');
  }
  await ports.sessions.end(sessionId);
  waitUntil(ports.endUpstreams(sessionOwner(sessionId), snapshot));
  return new Response(null, { status: 200 });
}

/**
 * Largest age of the session row that open streams are checked against, in milliseconds. Rare reads suffice: whatever ends a session closes
 * its streams.
 */
const STREAM_SESSION_MS = 120_000;

/** Opens the stream of a legacy session. @throws PorticoError */
export async function openStream(admitted: Admitted, ports: McpPorts): Promise<Response> {
  const { incoming, snapshot, facts } = admitted;
  const sessionId = liveSession(admitted, ports);
  const client = legacyClient(incoming, snapshot, sessionId);
  const release = ports.openStreams.open(snapshot.caller.principalId);
  const stream = {
    release,
    headers: incoming.headers,
    owner: sessionId === undefined ? undefined : sessionOwner(sessionId),
    callerContext: { viewer: viewerOfClient(admitted.viewer, 'legacy', client) },
    gateway: ports.gateway,
    protocolVersion: facts?.protocolVersion ?? '',
    keepAliveMs: ports.config.keepAliveMs,
    signal: incoming.signal,
    isAllowed: async () =>
      liveSession(await admitted.again(undefined, STREAM_SESSION_MS), ports) === sessionId,
    now: () => callerContext(admitted, ports, 'legacy', client),
  };
  return counted(release, async () => {
    const onOpen = await ports.openStreams.turn(snapshot.caller.principalId);
    return counted(onOpen, () => openLegacyStream({ ...stream, onOpen }, ports.streams));
  });
}
