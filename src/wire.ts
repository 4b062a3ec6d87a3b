/** The composition root: builds every part from the bindings and joins them. Once per isolate. */
import { Snapshots, type Snapshot } from './access/snapshots.ts';
import { isTokenForm } from './access/token.ts';
import { TokenService } from './access/token-service.ts';
import { findCatalogText } from './catalog/catalog-kv.ts';
import { Catalogs } from './catalog/catalogs.ts';
import { parseConfig, type Env } from './env.ts';
import { createCore } from './gateway/core.ts';
import { withAccess } from './gateway/with-access.ts';
import { withRequestState } from './gateway/with-request-state.ts';
import type { AppPorts } from './app.ts';
import { ServerService } from './registry/server-service.ts';
import { createKeyRing } from './secrets/key-ring.ts';
import { Cancellations } from './session/cancellations.ts';
import { SealedIds } from './session/sealed-id.ts';
import { Sessions } from './session/sessions.ts';
import { Streams } from './session/streams.ts';
import { UpstreamSessions } from './session/upstream-sessions.ts';
import { endSession } from './upstream/end-session.ts';
import { Destinations } from './upstream/destination.ts';
import { Upstreams } from './upstream/upstreams.ts';

/** A server is looked at this often at most on suspicion of this isolate, in milliseconds. */
const SUSPECT_GAP_MS = 2_000;

/**
 * Build the application's parts.
 * @throws Error that names the setting that is missing or not right
 */
export function wire(env: Env): AppPorts {
  const config = parseConfig(env);
  const keys = createKeyRing(env.PORTICO_KEYS);
  const adminToken = env.PORTICO_ADMIN_TOKEN || undefined;
  if (adminToken !== undefined && !isTokenForm(adminToken)) {
    throw new Error('PORTICO_ADMIN_TOKEN must be portico_ and 43 base64url characters');
  }
  const db = env.DB;
  const monitorOf = (serverId: string) =>
    env.SERVER_MONITOR.get(env.SERVER_MONITOR.idFromName(serverId));

  const snapshots = new Snapshots({ db, keys, adminToken, maxAgeMs: config.snapshotMaxAgeMs });
  const destinations = new Destinations(keys, config.localMode);
  const upstreamSessions = new UpstreamSessions(env.CLIENT_SESSION, config.maxAnswerBytes);
  const catalogs = new Catalogs({
    find: async (serverId, hash) =>
      (await findCatalogText(env.CATALOG, serverId, hash)) ??
      (await monitorOf(serverId).rebuild(hash)),
  });

  const suspected = new Map<string, number>();
  const upstreams = new Upstreams({
    destinations,
    sessions: upstreamSessions,
    throughObject: (call, context) => upstreamSessions.call(call, context),
    questionTimeoutMs: config.questionTimeoutMs,
    callTimeoutMs: config.callTimeoutMs,
    maxAnswerBytes: config.maxAnswerBytes,
    async onSuspect(serverId) {
      const now = Date.now();
      if (now - (suspected.get(serverId) ?? 0) < SUSPECT_GAP_MS) return;
      suspected.set(serverId, now);
      await monitorOf(serverId).poke();
    },
  });

  const core = withRequestState(
    createCore({
      catalogOf: server => catalogs.of(server),
      call: (server, request, name, context) => upstreams.call(server, request, name, context),
    }),
    { keys, lifetimeMs: config.questionTimeoutMs },
  );
  const gateway = withAccess(core);

  async function endUpstreams(owner: string, { servers }: Snapshot): Promise<void> {
    for (const { serverId, session } of await upstreamSessions.end(owner)) {
      const server = servers.find(({ id }) => id === serverId);
      if (server) await endSession(await destinations.of(server), session);
    }
  }

  return {
    config,
    snapshots,
    gateway,
    sessions: new Sessions({
      db,
      sealedIds: new SealedIds(keys),
      snapshots,
      idleMs: config.sessionIdleMs,
    }),
    endUpstreams,
    upstreamSessions,
    cancellations: new Cancellations(env.CLIENT_SESSION),
    streams: new Streams(env.CLIENT_SESSION, env.SERVER_MONITOR),
    tokens: new TokenService({ db, keys }),
    servers: new ServerService({
      db,
      keys,
      localMode: config.localMode,
      onFresh: () => snapshots.forgetServers(),
      startMonitor: id => monitorOf(id).start(id),
      stopMonitor: id => monitorOf(id).stop(),
    }),
  };
}
