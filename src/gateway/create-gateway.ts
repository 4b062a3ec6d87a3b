/**
 * The gateway of a deployment, with the log and the limits of calls, the reports on its servers, and the explanations why a tool is hidden.
 */
import type { BudgetShard } from '../audit/limits/day-budget.ts';
import type { CallShard } from '../audit/calls/call-schema.ts';
import { callShard } from '../audit/calls/call-schema.ts';
import { toCallChunk, withId } from '../audit/chunks/call-chunk.ts';
import { writeChunk } from '../audit/chunks/chunk-store.ts';
import type { Catalog } from '../servers/catalog/catalog.ts';
import type { CallReport } from '../servers/health/call-report.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import type { UpstreamEndpoints } from '../upstream/endpoint.ts';
import { subscribeTasks } from '../upstream/streams/task-listener.ts';
import type { CacheShard } from './cache/cache-port.ts';
import { CallEnds } from './call-log/call-ends.ts';
import { CallLedger, type CallLedgerPorts } from './call-log/call-ledger.ts';
import { createBeforeLog, createChunkLog } from './call-log/call-log.ts';
import { GatheredCalls } from './call-log/gathered-calls.ts';
import { GroupCommit } from './call-log/group-commit.ts';
import { DayBudgets } from './call-log/day-budgets.ts';
import { LeasedLimits } from './call-log/leased-limits.ts';
import { createTrial } from './explain/dry-run.ts';
import { ExplainService } from './explain/explain-service.ts';
import { PreviewService } from './explain/preview-service.ts';
import { gatewayOf } from './gateway-of.ts';
import { CallReports } from './steps/server-health.ts';
import type { FindTools } from './search.ts';
import type { Uses } from './steps/note-use.ts';
import type { OpenCallChannel } from './steps/end-when-drained.ts';
import type { Send } from './steps/send.ts';
import { createTaskIds } from './steps/task-ids.ts';

export interface GatewayDeps {
  db: D1Database;
  keys: KeyRing;
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  catalogsOf(servers: readonly Server[]): Promise<Catalog[]>;
  findTools: FindTools;
  /** Learns from uses; undefined if nothing is learned. */
  uses: Uses | undefined;
  /** Called with the servers that a caller lists or searches. */
  onListed(servers: readonly Server[]): void;
  /** Sends a request to a server. */
  send: Send;
  endpoints: UpstreamEndpoints;
  /** Returns the object that has the calls of a principal. */
  auditLogOf(shard: string): CallShard;
  /** Returns the object that counts the calls of a budget. */
  budgetShardOf(name: string): BudgetShard;
  /** Wakes the object that seals the chunks of calls. */
  wakeCallChain(): Promise<unknown>;
  /** Returns the object that stores the result of a key. */
  cacheShardOf(key: string): CacheShard;
  /** The objects that monitor the servers. */
  monitors: {
    report(serverId: string, report: CallReport): Promise<boolean>;
    want(serverId: string, generation: number): Promise<unknown>;
    openCallChannel: OpenCallChannel;
  };
  /** Drops the registry that this isolate remembers, since it is outdated. */
  invalidateRegistry(): void;
  config: {
    audit: { calls: 'batched' | 'durable' | 'before' | 'off'; gatherMs: number };
    limits: CallLedgerPorts['limits'];
    cache: { maxResultBytes: number };
    callTimeoutMs: number;
    questionTimeoutMs: number;
    reportIntervalMs: number;
  };
  /** Whether all isolates of the deployment are on one machine. */
  isOneMachine: boolean;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

export function createGateway(deps: GatewayDeps) {
  const { db, keys, catalogOf, monitors, invalidateRegistry, config, wait, now } = deps;
  const shardOf = (principalId: string) => deps.auditLogOf(callShard(principalId));
  const { isOneMachine } = deps;
  const { calls: mode, gatherMs } = config.audit;
  const ends = new CallEnds({ shardOf, wait, now, isOneMachine });
  const gathered = new GatheredCalls({
    // In `durable` mode a call is also stored when it is sent, so only chunks of `batched` consist of ended calls.
    pack: (id, events) => toCallChunk(id, events, mode === 'batched'),
    rename: withId,
    write: chunk => writeChunk(db, chunk),
    wakeChain: () => deps.wakeCallChain(),
    gatherMs,
    wait,
    now,
    isOneMachine,
  });
  const tokens = new LeasedLimits({ shardOf, wait, now });
  const before = () => createBeforeLog({ shardOf, ends, wait });
  const logs = {
    batched: () => createChunkLog(tokens, gathered),
    durable: () => createChunkLog(tokens, gathered, new GroupCommit({ gathered, wait, now })),
    before,
    off: before,
  };
  const ledger = new CallLedger({
    tokens,
    budgets: new DayBudgets({ budgetShardOf: name => deps.budgetShardOf(name), wait, now }),
    log: logs[mode](),
    keys,
    isRecording: mode !== 'off',
    limits: config.limits,
  });
  const reports = new CallReports({
    intervalMs: config.reportIntervalMs,
    // A report that opened or closed a circuit has changed the registry.
    send: async (id, report) => (await monitors.report(id, report)) && invalidateRegistry(),
    want: (id, generation) => monitors.want(id, generation),
    wait,
    now,
  });
  const gateway = gatewayOf({
    catalogOf,
    catalogsOf: deps.catalogsOf,
    findTools: deps.findTools,
    uses: deps.uses,
    onListed: servers => deps.onListed(servers),
    taskIds: createTaskIds(keys),
    subscribeTasks: async (server, ids, onTask, signal) =>
      subscribeTasks(await deps.endpoints.of(server), ids, onTask, signal),
    ledger,
    cache: {
      shardOf: key => deps.cacheShardOf(key),
      keys,
      maxResultBytes: config.cache.maxResultBytes,
      waitMs: config.callTimeoutMs,
      now,
    },
    requestState: { keys, lifetimeMs: config.questionTimeoutMs },
    reports,
    openCallChannel: id => monitors.openCallChannel(id),
    send: deps.send,
  });
  const tryTool = createTrial({ catalogOf });
  const explanations = new ExplainService({ db, catalogOf, tryTool, now });
  const previews = new PreviewService({ db, catalogsOf: deps.catalogsOf });
  return { gateway, explanations, previews, flushCalls: (ms: number) => gathered.flush(ms) };
}
