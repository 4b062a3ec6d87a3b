/** The Durable Objects of a deployment as functions with the rooms' names, so that no room sees a binding. */
import type { KeptChain } from '../audit/calls/call-schema.ts';
import type { KeptSeals } from '../audit/chunks/call-chain.ts';
import type { CallReport } from '../servers/health/call-report.ts';
import { CONNECTOR_HEADER } from './connector-object.ts';
import { shardOf } from '../gateway/cache/cache-shards.ts';

/** A machine that connects. */
interface Machine {
  id: string;
  name: string;
  rotatedAt: number;
}

const UPGRADE = { upgrade: 'websocket' };

export function objectsOf(env: Env) {
  const monitorOf = (serverId: string) => env.SERVER_MONITOR.getByName(serverId);
  const callChain = () => env.CALL_CHAIN.getByName('all');
  const webhooks = () => env.WEBHOOKS.getByName('all');
  const auditLogOf = (name: string) => env.AUDIT_LOG.getByName(name);
  return {
    clients: env.CLIENT_SESSION,
    servers: env.SERVER_MONITOR,
    connectors: env.CONNECTOR,
    auditLogOf,
    /** The object that counts a budget's calls. It is of the same class, but holds no calls. */
    budgetShardOf: auditLogOf,
    /** The shard that stores the result under a key. */
    cacheShardOf: (key: string) => env.RESULT_CACHE.getByName(shardOf(key)),
    /** Notifies open streams that access changed. */
    notifyAccessChanged: () => env.ACCESS_CHANGES.getByName('all').changed(),
    /** Seals the chunks of calls. */
    keepCalls: (): Promise<KeptSeals> => callChain().keep(),
    addUpCalls: (isWhole: boolean): Promise<void> => callChain().addUp(isWhole),
    wakeCallChain: () => callChain().wake(),
    /** An event for webhooks may come soon. */
    expectWebhookEvent: () => webhooks().expect(),
    wakeWebhooks: () => webhooks().wake(),
    keepChain: (shard: string): Promise<KeptChain> => auditLogOf(shard).keep(shard),
    monitors: {
      of: monitorOf,
      expect: (id: string, inMs?: number) => monitorOf(id).expect(id, inMs),
      follow: (id: string) => monitorOf(id).follow(id),
      wake: (id: string) => monitorOf(id).wake(),
      rebuild: (id: string, hash: string) => monitorOf(id).rebuild(hash),
      report: (id: string, report: CallReport) => monitorOf(id).report(report),
      want: (id: string, generation: number) => monitorOf(id).want(generation),
      history: (id: string, before: number | undefined, limit: number) =>
        monitorOf(id).history(before, limit),
      /** Opens the channel on which a long call learns that its server is taken down. */
      openCallChannel: async (id: string) =>
        (await monitorOf(id).fetch('https://monitor/call', { headers: UPGRADE })).webSocket,
    },
    lines: {
      expectRevocation: (id: string) => env.CONNECTOR.getByName(id).expectRevocation(),
      revoke: (id: string) => env.CONNECTOR.getByName(id).revoke(),
    },
    /** Opens the socket of a machine at its connector's object. */
    openMachine({ id, name, rotatedAt }: Machine) {
      const headers = { ...UPGRADE, [CONNECTOR_HEADER]: JSON.stringify({ id, name, rotatedAt }) };
      return env.CONNECTOR.getByName(id).fetch('https://connector/machine', { headers });
    },
  };
}
