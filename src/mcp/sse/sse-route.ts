/**
 * The deprecated HTTP+SSE transport for old clients. `GET /sse` (`/sse/servers/{server}` for one server, `/sse/toolsets/{toolset}` for a
 * toolset) opens a stream that first names the endpoint for messages. `POST /messages` takes a message and answers 202; the response comes
 * on the stream. A message goes through the client's object to the Worker that holds the stream, where `sse-session.ts` serves it as
 * Streamable HTTP does, with the message's own credential. Source: MCP 2024-11-05, transports.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { Caller } from '../../access/policy/caller.ts';
import type { McpPorts } from '../ports.ts';
import { parseBearer } from '../../shared/identity/principal.ts';
import { PorticoError, toPorticoError } from '../../shared/errors/portico-error.ts';
import { toRpcErrorResponse } from '../../shared/errors/to-json-rpc.ts';
import { parseBody, readJsonBody } from '../../http/json-body.ts';
import { checkOrigin } from '../../http/entry-checks.ts';
import type { RequestBytes } from '../../shared/limits/bytes-in-flight.ts';
import { counted } from '../../shared/limits/stream-count.ts';
import type { Snapshot } from '../../access/admission/snapshots.ts';
import { admit, findViewer, requireAudience } from '../admit.ts';
import { parseEndpoint, type EndpointPart } from '../endpoint.ts';
import type { Incoming } from '../incoming.ts';
import { endSession, openStream as openSessionStream } from '../route.ts';
import { serveMessage } from '../serve-message.ts';
import { sseResponse } from './sse-session.ts';

/** Path to which the messages of all streams are posted. */
const MESSAGES = '/messages';

/**
 * Serves a request to an endpoint of the transport.
 * @param part names the stream's one server or toolset; empty for all servers, and for messages
 */
export async function handleSse(
  request: Request,
  url: URL,
  part: EndpointPart,
  ports: McpPorts,
  waitUntil: WaitUntil,
): Promise<Response> {
  const takesMessages = url.pathname === MESSAGES;
  try {
    checkOrigin(url, request.headers.get('origin'), ports.config);
    const snapshot = await snapshotOf(request.headers.get('authorization'), ports, waitUntil);
    if (!takesMessages && request.method === 'GET') {
      return await openStream(request, url, part, snapshot, ports, waitUntil);
    }
    if (takesMessages && request.method === 'POST') {
      return await takeMessage(request, url, snapshot.caller, ports);
    }
    throw new PorticoError('method_not_allowed');
  } catch (thrown) {
    const response = toRefusal(thrown);
    if (response.status === 405) {
      response.headers.set('allow', takesMessages ? 'POST' : 'GET');
    }
    return response;
  }
}

const toRefusal = (thrown: unknown) => toRpcErrorResponse(toPorticoError(thrown), null, 'legacy');

/** @throws PorticoError `unauthorized` */
async function snapshotOf(
  authorization: string | null,
  { snapshots }: McpPorts,
  waitUntil: WaitUntil,
  maxAgeMs?: number,
): Promise<Snapshot> {
  const token = parseBearer(authorization);
  const snapshot =
    token === undefined ? undefined : await snapshots.load(token, undefined, waitUntil, maxAgeMs);
  if (!snapshot) throw new PorticoError('unauthorized');
  return snapshot;
}

async function openStream(
  request: Request,
  url: URL,
  part: EndpointPart,
  snapshot: Snapshot,
  ports: McpPorts,
  waitUntil: WaitUntil,
): Promise<Response> {
  const endpoint = parseEndpoint(url, part);
  requireAudience(snapshot, endpoint);
  await findViewer(endpoint, snapshot, ports);
  const { caller } = snapshot;
  const { sealed, facts } = await ports.sessions.seal(caller);
  const release = ports.openStreams.open(caller.principalId);
  const socket = await counted(release, () => ports.streams.connectRelay(facts.id));
  const query = new URLSearchParams({ sessionId: sealed });
  for (const choice of ['names', 'tools']) {
    const chosen = url.searchParams.get(choice);
    if (chosen !== null) query.set(choice, chosen);
  }
  // The session's notification stream is part of this stream, so it is not counted again.
  const turn = (principalId: string) => ports.openStreams.turn(principalId);
  const within = { ...ports, openStreams: { open: () => () => {}, turn } };
  const admitted = (incoming: Incoming) => admit(incoming, () => endpoint, within, waitUntil);
  const bytes = ports.bytes.request(caller.principalId, true);
  return sseResponse(socket, {
    endpoint: `${MESSAGES}?${query}`,
    signal: request.signal,
    keepAliveMs: ports.config.keepAliveMs,
    release() {
      release();
      bytes.release();
    },
    bytes,
    isOwn: async (authorization, maxAgeMs) => {
      const found = (await snapshotOf(authorization, ports, waitUntil, maxAgeMs)).caller;
      return found.principalId === caller.principalId && found.tokenId === caller.tokenId;
    },
    waitUntil,
    authorization: request.headers.get('authorization') ?? '',
    serveMessage(incoming, text) {
      const { maxBodyBytes, json } = ports.config;
      const read = (held: RequestBytes) => {
        held.takeBody(text.length);
        return parseBody(text, maxBodyBytes, json, held);
      };
      return serveMessage(incoming, read, () => endpoint, within, waitUntil, 'sse');
    },
    openStream: incoming =>
      admitted(incoming)
        .then(current => openSessionStream(current, within))
        .catch(toRefusal),
    endSession: async incoming => endSession(await admitted(incoming), within),
  });
}

async function takeMessage(
  request: Request,
  url: URL,
  caller: Caller,
  { bytes, config, sessions, streams }: McpPorts,
): Promise<Response> {
  const sealed = url.searchParams.get('sessionId');
  if (sealed === null) throw new PorticoError('session_required');
  const facts = await sessions.facts(sealed);
  if (facts?.principalId !== caller.principalId) throw new PorticoError('session_not_found');
  const held = bytes.request(caller.principalId);
  try {
    const { text } = await readJsonBody(request, config.maxBodyBytes, config.json, held);
    // Another token of the same principal may have opened the stream: the message acts with its own token.
    const authorization = request.headers.get('authorization') ?? '';
    if (!(await streams.relay(facts.id, text, authorization)))
      throw new PorticoError('session_not_found');
    return new Response('Accepted', { status: 202 });
  } finally {
    held.release();
  }
}
