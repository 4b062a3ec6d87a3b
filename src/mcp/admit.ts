/** Admits a request to an MCP endpoint: who calls, on which snapshot, what the endpoint comes to, in which session. */
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
  /** Who calls, and what the endpoint comes to for it. */
  viewer: EndpointViewer;
  facts: SessionFacts | undefined;
  waitUntil: WaitUntil;
  /** Admits the same request again, later: its credential, endpoint or session may be gone. */
  again(maxAgeMs?: number, sessionAgeMs?: number): Promise<Admitted>;
}

/** Who calls, on which snapshot, within which scope and session. */
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

/** An access token is for a URL and what is below it. @throws PorticoError `unauthorized` elsewhere */
export function requireAudience({ caller }: Snapshot, { origin, path }: Endpoint): void {
  if (!coversUrl(caller.audience, { origin, pathname: path })) {
    throw new PorticoError('unauthorized', 'This token is for another URL');
  }
}

/**
 * What an endpoint comes to for a caller. A server of which it sees nothing does not exist, nor does a toolset it may not use.
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
 * The id of the legacy session a request names, or undefined where it names none.
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
