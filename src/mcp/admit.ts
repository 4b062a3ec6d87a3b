/**
 * Admits a request to an MCP endpoint: finds its caller, the snapshot to decide on, what the endpoint shows that caller, and the session.
 */
import type { WaitUntil } from '../shared/util/wait-until.ts';
import type { McpPorts } from './ports.ts';
import { coversUrl, parseBearer } from '../shared/identity/principal.ts';
import type { Snapshot } from '../access/admission/snapshots.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { restrictToCaller } from '../gateway/steps/restrict.ts';
import type { SessionFacts } from '../access/admission/sealed-id.ts';
import type { Incoming } from './incoming.ts';
import { viewerOf, type Endpoint, type EndpointViewer } from './endpoint.ts';

/** Everything known of a request once its credential has been checked. */
export interface Admitted {
  incoming: Incoming;
  endpoint: Endpoint;
  snapshot: Snapshot;
  /** The caller, with what the endpoint shows it. */
  viewer: EndpointViewer;
  facts: SessionFacts | undefined;
  waitUntil: WaitUntil;
  /** Admits the same request again, later. @throws PorticoError where its credential, endpoint or session is gone */
  again(maxAgeMs?: number, sessionAgeMs?: number): Promise<Admitted>;
}

/** Checks the credential and finds the caller's snapshot, its view of the endpoint and the facts of its session. @throws PorticoError */
export async function admit(
  incoming: Incoming,
  endpoint: () => Endpoint,
  ports: McpPorts,
  waitUntil: WaitUntil,
  maxAgeMs?: number,
  sessionAgeMs?: number,
): Promise<Admitted> {
  const { snapshots, sessions } = ports;
  const token = parseBearer(incoming.headers.get('authorization'));
  if (token === undefined) throw new PorticoError('unauthorized');
  const sealed = incoming.headers.get('mcp-session-id');
  const facts = sealed === null ? undefined : await sessions.facts(sealed);
  const snapshot = await snapshots.load(token, facts?.id, waitUntil, maxAgeMs, sessionAgeMs);
  if (!snapshot) throw new PorticoError('unauthorized');
  const where = endpoint();
  requireAudience(snapshot, where);
  const viewer = await findViewer(where, snapshot, ports);
  const again = (ageMs?: number, sessionMs?: number) =>
    admit(incoming, endpoint, ports, waitUntil, ageMs, sessionMs);
  return { incoming, endpoint: where, snapshot, viewer, facts, waitUntil, again };
}

/** Checks that an access token is for this URL or one above it. @throws PorticoError `unauthorized` for any other URL */
export function requireAudience({ caller }: Snapshot, { origin, path }: Endpoint): void {
  if (!coversUrl(caller.audience, { origin, pathname: path })) {
    throw new PorticoError('unauthorized', 'This token is for another URL');
  }
}

/**
 * Returns what an endpoint shows a caller. A server of which the caller sees nothing does not exist for it, nor does a toolset that it may
 * not use.
 * @throws PorticoError `not_found`
 */
export async function findViewer(
  endpoint: Endpoint,
  { caller, servers }: Snapshot,
  { gateway, config }: Pick<McpPorts, 'gateway' | 'config'>,
): Promise<EndpointViewer> {
  const view = { caller, visible: restrictToCaller(caller, { servers }) };
  const viewer = viewerOf(endpoint, view, config);
  const isThere =
    viewer &&
    (endpoint.serverName === undefined || (await gateway.visible(viewer)).servers.length > 0);
  if (!isThere) throw new PorticoError('not_found', 'No such endpoint');
  return viewer;
}

/**
 * Returns the id of the legacy session that a request names, or undefined where it names none.
 * @throws PorticoError `session_not_found`
 */
export function liveSession(admitted: Admitted, { sessions }: McpPorts): string | undefined {
  const { incoming, snapshot, endpoint, facts, waitUntil } = admitted;
  if (incoming.headers.get('mcp-session-id') === null) return undefined;
  const { caller, session } = snapshot;
  if (!facts || !sessions.isAlive(session, caller, endpoint.path, waitUntil)) {
    throw new PorticoError('session_not_found', 'Session not found; initialize a new one');
  }
  return facts.id;
}
