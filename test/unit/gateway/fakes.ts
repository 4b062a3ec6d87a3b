/** A gateway on plain fakes: records and their catalogs, without a database or a network. */
import { gatewayOf, type GatewayPorts } from '../../../src/gateway/gateway-of.ts';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { createTaskIds } from '../../../src/gateway/steps/task-ids.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import type { FindTools } from '../../../src/gateway/search.ts';
import { EMPTY_CATALOG, parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import { NO_CREDENTIAL } from '../../../src/credentials/credential-schema.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';

/** Tools by server. */
export const TOOLS: Record<string, string[]> = {
  alpha: ['echo', 'get.sum', 'a__b', 'x y'],
  beta: ['echo'],
  alpha__beta: ['echo', 'only'],
  off: ['echo'],
};

/** A registry record. */
export function createRecord(name: string, more: Partial<Server> = {}): Server {
  return {
    id: `id-${name}`,
    name,
    description: '',
    transportType: 'HTTP',
    url: 'https://a.example.com/mcp',
    credential: NO_CREDENTIAL,
    healthCheckUrl: null,
    autoConnect: true,
    healthSettings: {},
    disconnectedAt: null,
    circuitRetryAt: null,
    toolApproval: null,
    accounts: 'shared',
    approvalsStamp: 'stamp',
    heldTools: 0,
    skillsRevision: 0,
    taxonomyRevision: 1,
    cacheRules: [],
    revision: 1,
    generation: 1,
    status: name === 'off' ? 'DISCONNECTED' : 'CONNECTED',
    lastError: null,
    verdict: null,
    catalogHash: `hash-${name}`,
    toolCount: 0,
    registeredAt: 0,
    updatedAt: 0,
    ...more,
  };
}

/** A search that finds nothing. */
export const findNothing: FindTools = () =>
  Promise.resolve({ tools: [], serversSearched: 0, toolsSearched: 0 });

/** The catalog of a record. */
export const catalogOf = ({ name, status, catalogHash }: Server) => {
  if (status === 'DISCONNECTED') return EMPTY_CATALOG;
  const tools = (TOOLS[name] ?? []).map(tool => ({ name: tool, inputSchema: {} }));
  return parseCatalog(catalogHash ?? '', JSON.stringify({ tools, capabilities: { tools: {} } }));
};

export const KEYS = createKeyRing(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
);

/** A gateway that records and caches nothing and whose servers answer `{}`, unless the given ports differ. */
export function createFakeGateway(ports: Partial<GatewayPorts> = {}): Gateway {
  const of = ports.catalogOf ?? catalogOf;
  return gatewayOf({
    catalogOf,
    catalogsOf: async servers => Promise.all(servers.map(of)),
    findTools: findNothing,
    onListed: () => {},
    taskIds: createTaskIds(KEYS),
    subscribeTasks: () => Promise.resolve({ agreed: [], ended: Promise.resolve() }),
    ledger: undefined,
    cache: {
      shardOf: () => {
        throw new Error('no rule is given, so nothing is kept');
      },
      keys: KEYS,
      maxResultBytes: 0,
      waitMs: 0,
      now: () => 0,
    },
    requestState: { keys: KEYS, lifetimeMs: 60_000 },
    reports: { add: () => {}, refuse: () => {} },
    openCallChannel: () => Promise.resolve(null),
    send: () => Promise.resolve({ response: { kind: 'response', result: '{}', parsed: {} } }),
    ...ports,
  });
}
