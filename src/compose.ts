/** The composition root: builds the rooms from the bindings, lower rooms first. Runs once per isolate. */
import { waitUntil } from 'cloudflare:workers';
import { createAccess } from './access/create-access.ts';
import { createAgents } from './agents/create-agents.ts';
import type { AppPorts } from './app.ts';
import { createAudit } from './audit/create-audit.ts';
import { parseConfig } from './config.ts';
import { createCredentials } from './credentials/create-credentials.ts';
import { RemoteAccessTokens } from './credentials/oauth/remote-access-tokens.ts';
import { Catalogs } from './gateway/catalogs.ts';
import { createGateway } from './gateway/create-gateway.ts';
import { Drain } from './http/drain.ts';
import { modelsOf } from './models/create-models.ts';
import { UsageService } from './models/usage-service.ts';
import { findCatalogTexts } from './monitor/catalog-kv.ts';
import { createOAuth } from './oauth/create-oauth.ts';
import { objectsOf } from './objects/objects-of.ts';
import { createUpstreamEndpoints } from './objects/upstream-endpoints.ts';
import { createIndexParts } from './search/index/index-kv.ts';
import { createOwners } from './records/owners.ts';
import { createSearch } from './search/create-search.ts';
import { createEmbeddingSource } from './search/text/embedding-asset.ts';
import { RemoteAccountLists } from './servers/accounts/remote-account-lists.ts';
import type { Server } from './servers/registry/server-schema.ts';
import { createServers } from './servers/create-servers.ts';
import { createSessions } from './sessions/create-sessions.ts';
import { createSignIn } from './sign-in/create-sign-in.ts';
import { createKeyRing } from './shared/crypto/key-ring.ts';
import { bytesOfIsolate } from './shared/limits/bytes-in-flight.ts';
import { StreamCount } from './shared/limits/stream-count.ts';
import { createTelemetry } from './telemetry/create-telemetry.ts';
import { createUpstreams } from './upstream/create-upstreams.ts';
import { createExpectEvents } from './webhooks/expect-events.ts';
import { createWebhooks } from './webhooks/webhook-service.ts';

/** How long a request waits for a catalog that KV has lost, in milliseconds; then it goes on without that server's items. */
const REBUILD_MS = 5_000;

/**
 * Builds the application's parts.
 * @throws Error that names the missing or invalid setting
 */
export function compose(env: Env): AppPorts {
  const config = parseConfig(env);
  const { allowsLoopback, otlp } = config;
  const db = env.DB;
  const keys = createKeyRing(env.PORTICO_KEYS);
  const bytes = bytesOfIsolate(config.bytesInFlight);
  const wait = (ms: number) => scheduler.wait(ms);
  const now = () => Date.now();

  const { clients, servers: serverObjects, connectors, monitors, ...objects } = objectsOf(env);
  const isOneMachine = Boolean(env.LOCAL_DRAIN_KEY);
  const { tracer, telemetry } = createTelemetry({
    settings: config.telemetry,
    otlp,
    folder: env.TRACES,
    lines: env.LINES,
    dataset: env.METRICS,
    isOneMachine,
    wait,
    now,
  });
  const { adminAudit, audit, callUsage } = createAudit({ db, ...objects });
  const adminToken = env.PORTICO_ADMIN_TOKEN;
  const { invalidateRegistry, onAccessChanged, ...access } = createAccess({
    db,
    keys,
    adminAudit,
    adminToken,
    config,
    ...objects,
  });
  const expectEvents = createExpectEvents(db, objects.expectWebhookEvent);
  const base = { db, keys, adminAudit, config, invalidateRegistry, monitors, expectEvents };

  const credentials = createCredentials({ ...base, allowsLoopback });
  const models = modelsOf(env, config.model, keys);
  const accountLists = new RemoteAccountLists(owner => clients.getByName(owner), waitUntil);
  const servers = createServers({
    ...base,
    ...objects,
    onAccessChanged,
    secrets: credentials.secrets,
    accountLists,
  });
  const accessTokens = new RemoteAccessTokens(monitors.of);
  const endpoints = createUpstreamEndpoints(connectors, keys, config, accessTokens, clients);
  const sessions = createSessions({ db, keys, clients, servers: serverObjects, endpoints, config });
  const send = createUpstreams({
    endpoints,
    sessions: sessions.upstreamSessions,
    config,
    monitors,
    wait,
    now,
  });
  const rebuilt = (serverId: string, hash: string) => {
    const rebuilding = monitors.rebuild(serverId, hash).catch(() => undefined);
    waitUntil(rebuilding);
    return Promise.race([rebuilding, wait(REBUILD_MS).then(() => undefined)]);
  };
  const catalogs = new Catalogs({
    find: async refs => {
      const texts = await findCatalogTexts(env.CATALOG, refs);
      return Promise.all(refs.map(({ serverId, hash }, i) => texts[i] ?? rebuilt(serverId, hash)));
    },
  });
  const catalogOf = (server: Server) => catalogs.of(server);
  const catalogsOf = (many: readonly Server[]) => catalogs.ofAll(many);
  const { findTools, uses, ...search } = createSearch({
    ...base,
    parts: createIndexParts(env.CATALOG),
    embedding: createEmbeddingSource(env.ASSETS, wait),
    models,
    catalogOf,
    catalogsOf,
    wait,
    now,
  });
  const { flushCalls, ...calls } = createGateway({
    ...base,
    ...objects,
    catalogOf,
    catalogsOf,
    findTools,
    uses,
    onListed: listed => accountLists.listed(listed),
    send,
    endpoints,
    isOneMachine,
    wait,
    now,
  });
  const agents = createAgents({ ...base, gateway: calls.gateway, models, tracer, now });

  const signIn = createSignIn({
    ...base,
    adminToken,
    allowsLoopback,
    onAccessChanged,
    registry: () => access.snapshots.registry(),
  });

  return {
    config,
    bytes,
    drain: env.LOCAL_DRAIN_KEY ? new Drain(env.LOCAL_DRAIN_KEY, bytes, flushCalls) : undefined,
    openStreams: new StreamCount(config.openStreams),
    addressLimit: env.SHIELD,
    asset: path => env.ASSETS.fetch(new URL(path, 'https://assets.invalid')),
    openMachine: objects.openMachine,
    usage: new UsageService(db, config.model),
    webhooks: createWebhooks({ ...base, allowsLoopback, wakeWebhooks: objects.wakeWebhooks }),
    tracer,
    telemetry,
    audit,
    callUsage,
    owners: createOwners(base),
    ...access,
    ...signIn,
    ...createOAuth({ ...base, asserted: signIn.asserted, onAccessChanged, now }),
    ...credentials,
    ...servers,
    ...sessions,
    ...search,
    ...calls,
    ...agents,
  };
}
