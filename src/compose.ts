/** The composition root: builds every part from the bindings and joins them. Once per isolate. */
import { PrincipalService } from './access/principals/principal-service.ts';
import { createRules } from './access/rules/rule-service.ts';
import { Snapshots, type Snapshot } from './access/admission/snapshots.ts';
import { isTokenForm } from './shared/identity/token.ts';
import { ExplainService } from './gateway/explain/explain-service.ts';
import { TokenService } from './access/tokens/token-service.ts';
import { createToolsets } from './access/toolsets/toolset-service.ts';
import { createAsk } from './agents/ask/create-ask.ts';
import { createChats } from './agents/chat/create-chat.ts';
import { AdminAudit, ADMIN_SHARD } from './audit/admin-audit.ts';
import { AuditService } from './audit/audit-service.ts';
import { CallEnds } from './gateway/call-log/call-ends.ts';
import { CallLedger } from './gateway/call-log/call-ledger.ts';
import { callShard } from './audit/calls/call-schema.ts';
import { createCacheRules } from './servers/cache-rules/cache-rule-service.ts';
import { shardOf as shardOfResult } from './gateway/cache/cache-shards.ts';
import { findCatalogText } from './monitor/catalog-kv.ts';
import { Catalogs } from './gateway/catalogs.ts';
import { createGateway } from './gateway/create-gateway.ts';
import { CONNECTOR_HEADER } from './objects/connector-object.ts';
import { ConnectorService } from './servers/connectors/connector-service.ts';
import { createUpstreamEndpoints } from './objects/upstream-endpoints.ts';
import { parseConfig } from './config.ts';
import { createTrial } from './gateway/explain/dry-run.ts';
import { Drain } from './http/drain.ts';
import { bytesOfIsolate } from './shared/limits/bytes-in-flight.ts';
import { StreamCount } from './shared/limits/stream-count.ts';
import { modelsOf } from './models/create-models.ts';
import { UsageService } from './models/usage-service.ts';
import { listForModel, MODEL_NAMING, runCalls } from './agents/run-calls.ts';
import { createTaskIds } from './gateway/steps/task-ids.ts';
import type { AppPorts } from './app.ts';
import { CallReports } from './gateway/health/call-reports.ts';
import { HealthService } from './servers/health/health-service.ts';
import { ImportService } from './servers/transfer/import-service.ts';
import type { Server } from './servers/registry/server-schema.ts';
import { ServerService } from './servers/registry/server-service.ts';
import { createSearch } from './search/create-search.ts';
import { createEmbeddingSource } from './search/text/embedding-asset.ts';
import { createIndexParts } from './search/index/index-kv.ts';
import { ApprovalService } from './servers/approvals/approval-service.ts';
import { createKeyRing } from './shared/crypto/key-ring.ts';
import { RemoteAccessTokens } from './credentials/oauth/remote-access-tokens.ts';
import { CorrectionService } from './search/skills/correction-service.ts';
import { createKnownSkills } from './search/skills/known-skills.ts';
import { SkillService } from './search/skills/skill-service.ts';
import { SuggestionService } from './search/skills/suggestion-service.ts';
import { Rotation } from './credentials/rotation.ts';
import { SecretService } from './credentials/secret-service.ts';
import { Cancellations } from './sessions/cancellations.ts';
import { SealedIds } from './access/admission/sealed-id.ts';
import { Sessions } from './access/admission/sessions.ts';
import { Streams } from './sessions/streams.ts';
import { UpstreamSessions } from './sessions/upstream-sessions.ts';
import { createTracer } from './tracing/create-tracer.ts';
import { createTraceTransport } from './tracing/trace-transport.ts';
import { endSession } from './upstream/session/end-session.ts';
import { subscribeTasks } from './upstream/streams/task-listener.ts';
import { Upstreams } from './upstream/upstream-client.ts';

/** A server is looked at this often at most on suspicion of this isolate, in milliseconds. */
const SUSPECT_GAP_MS = 2_000;

/**
 * Build the application's parts.
 * @throws Error that names the setting that is missing or not right
 */
export function compose(env: Env): AppPorts {
  const config = parseConfig(env);
  const keys = createKeyRing(env.PORTICO_KEYS);
  const adminToken = env.PORTICO_ADMIN_TOKEN || undefined;
  if (adminToken !== undefined && !isTokenForm(adminToken)) {
    throw new Error('PORTICO_ADMIN_TOKEN must be portico_ and 43 base64url characters');
  }
  const db = env.DB;
  const bytes = bytesOfIsolate(config.bytesInFlight);
  const wait = (ms: number) => scheduler.wait(ms);
  const now = () => Date.now();
  const monitorOf = (serverId: string) =>
    env.SERVER_MONITOR.get(env.SERVER_MONITOR.idFromName(serverId));
  const auditLogOf = (name: string) => env.AUDIT_LOG.get(env.AUDIT_LOG.idFromName(name));

  const adminAudit = new AdminAudit(db, () => auditLogOf(ADMIN_SHARD).wake());
  const snapshots = new Snapshots({
    db,
    keys,
    adminToken,
    posture: config.posture,
    maxAgeMs: config.snapshotMaxAgeMs,
  });
  const accessTokens = new RemoteAccessTokens(monitorOf);
  const endpoints = createUpstreamEndpoints(env.CONNECTOR, keys, config, accessTokens);
  const upstreamSessions = new UpstreamSessions(
    env.CLIENT_SESSION,
    config.maxAnswerBytes,
    config.standingStreamMs,
  );
  const catalogs = new Catalogs({
    find: async (serverId, hash) =>
      (await findCatalogText(env.CATALOG, serverId, hash)) ??
      (await monitorOf(serverId).rebuild(hash)),
  });

  const suspected = new Map<string, number>();
  const upstreams = new Upstreams({
    endpoints,
    sessions: upstreamSessions,
    throughObject: (call, context) => upstreamSessions.call(call, context),
    questionTimeoutMs: config.questionTimeoutMs,
    callTimeoutMs: config.callTimeoutMs,
    maxAnswerBytes: config.maxAnswerBytes,
    async requestRecheck(serverId) {
      const at = now();
      if (at - (suspected.get(serverId) ?? 0) < SUSPECT_GAP_MS) return;
      suspected.set(serverId, at);
      await monitorOf(serverId).wake();
    },
  });

  const reports = new CallReports({
    intervalMs: config.reportIntervalMs,
    send: async (id, report) => (await monitorOf(id).report(report)) && snapshots.forgetServers(),
    want: (serverId, generation) => monitorOf(serverId).want(generation),
    wait,
    now: () => Date.now(),
  });
  const catalogOf = (server: Server) => catalogs.of(server);
  const embedding = createEmbeddingSource(env.ASSETS, wait);
  const skillsOf = createKnownSkills(db);
  const models = modelsOf(env, config.model, keys);
  const shardOf = (principalId: string) => auditLogOf(callShard(principalId));
  const ledger = new CallLedger({
    shardOf,
    ends: new CallEnds({ shardOf, wait, now, isOneMachine: Boolean(env.LOCAL_DRAIN_KEY) }),
    keys,
    isRecording: config.audit.calls,
    limits: config.limits,
    wait,
  });
  const gateway = createGateway({
    catalogOf,
    findTools: createSearch({
      parts: createIndexParts(env.CATALOG),
      embedding,
      embedder: models.embedder('search'),
      catalogOf,
      skillsOf,
    }),
    taskIds: createTaskIds(keys),
    subscribeTasks: async (server, ids, hear, signal) =>
      subscribeTasks(await endpoints.of(server), ids, hear, signal),
    ledger: ledger.isNeeded ? ledger : undefined,
    cache: {
      shardOf: key => env.RESULT_CACHE.getByName(shardOfResult(key)),
      keys,
      maxResultBytes: config.cache.maxResultBytes,
      waitMs: config.callTimeoutMs,
      now,
    },
    requestState: { keys, lifetimeMs: config.questionTimeoutMs },
    reports,
    async openCallChannel(serverId) {
      const headers = { upgrade: 'websocket' };
      return (await monitorOf(serverId).fetch('https://monitor/call', { headers })).webSocket;
    },
    send: (server, request, name, context) => upstreams.call(server, request, name, context),
  });

  async function endUpstreams(owner: string, { servers }: Snapshot): Promise<void> {
    for (const { serverId, session } of await upstreamSessions.end(owner)) {
      const server = servers.find(({ id }) => id === serverId);
      if (server) await endSession(await endpoints.of(server), session);
    }
  }

  /** Who may use what was changed here: this isolate obeys at once, open streams hear of it. */
  async function onAccessChanged(): Promise<void> {
    snapshots.forgetServers();
    snapshots.forgetTokens();
    await env.ACCESS_CHANGES.get(env.ACCESS_CHANGES.idFromName('all')).changed();
  }
  const accessDeps = { db, adminAudit, onAccessChanged };
  const invalidateRegistry = () => snapshots.forgetServers();

  const secrets = new SecretService({
    db,
    keys,
    adminAudit,
    localMode: config.localMode,
    invalidateRegistry,
    onChanged: ids => Promise.allSettled(ids.map(id => monitorOf(id).wake())),
  });
  const servers = new ServerService({
    db,
    keys,
    localMode: config.localMode,
    invalidateRegistry,
    adminAudit,
    monitors: {
      expect: (id, inMs) => monitorOf(id).expect(id, inMs),
      follow: id => monitorOf(id).follow(id),
    },
  });

  const tracer = createTracer(
    createTraceTransport({ otlp: config.otlp, folder: env.TRACES, wait }),
    () => Date.now(),
  );
  const asking = { gateway, model: models.chat('ask'), tracer, settings: config.ask };

  return {
    config,
    snapshots,
    gateway,
    ...createAsk(db, adminAudit, asking),
    chats: createChats({
      db,
      keys,
      settings: config.chat,
      model: models.chat('chat'),
      tools: { gateway, naming: MODEL_NAMING, listForModel, runCalls },
      tracer,
    }),
    sessions: new Sessions({ db, sealedIds: new SealedIds(keys), snapshots, config }),
    endUpstreams,
    upstreamSessions,
    cancellations: new Cancellations(env.CLIENT_SESSION),
    bytes,
    drain: new Drain(env.LOCAL_DRAIN_KEY, bytes),
    openStreams: new StreamCount(config.openStreams),
    streams: new Streams(env.CLIENT_SESSION, env.SERVER_MONITOR),
    principals: new PrincipalService(accessDeps),
    explanations: new ExplainService({
      db,
      catalogOf,
      tryTool: createTrial({ catalogOf }),
      now,
    }),
    tokens: new TokenService({ ...accessDeps, keys }),
    rules: createRules(accessDeps),
    toolsets: createToolsets(accessDeps),
    cacheRules: createCacheRules({ db, adminAudit, invalidateRegistry }),
    rotation: new Rotation({ db, keys, adminAudit }),
    health: new HealthService({
      db,
      history: (id, before, limit) => monitorOf(id).history(before, limit),
    }),
    skills: new SkillService({ db, adminAudit, invalidateRegistry }),
    suggestions: new SuggestionService({ db, adminAudit, embedding, invalidateRegistry }),
    corrections: new CorrectionService({
      db,
      adminAudit,
      catalogOf,
      invalidateRegistry,
      wake: id => monitorOf(id).wake(),
    }),
    skillsOf,
    tracer,
    usage: new UsageService(db, config.model),
    approvals: new ApprovalService({ db, adminAudit, discover: id => monitorOf(id).wake() }),
    audit: new AuditService(db, shard => auditLogOf(shard).keep(shard)),
    addressLimit: env.SHIELD,
    asset: path => env.ASSETS.fetch(new URL(path, 'https://assets.invalid')),
    secrets,
    servers,
    connectors: new ConnectorService({
      db,
      keys,
      adminAudit,
      servers,
      maxServers: config.connectorServers,
      lines: {
        expectRevocation: id => env.CONNECTOR.getByName(id).expectRevocation(),
        revoke: id => env.CONNECTOR.getByName(id).revoke(),
      },
    }),
    openMachine: ({ id, name, rotatedAt }) =>
      env.CONNECTOR.getByName(id).fetch('https://connector/machine', {
        headers: {
          upgrade: 'websocket',
          [CONNECTOR_HEADER]: JSON.stringify({ id, name, rotatedAt }),
        },
      }),
    imports: new ImportService({ db, adminAudit, servers, secrets, localMode: config.localMode }),
  };
}
