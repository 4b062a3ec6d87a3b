/** Builds the services for the registry and everything that belongs to a server: approvals, health, cache rules, connectors, imports. */
import type { AdminAudit } from '../audit/admin-audit.ts';
import type { SecretService } from '../credentials/secret-service.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { CodeFlow } from '../credentials/oauth/code-flow.ts';
import { createAccounts, createOnConnected } from './accounts/account-service.ts';
import { Connecting } from './accounts/connecting.ts';
import type { RemoteAccountLists } from './accounts/remote-account-lists.ts';
import { revokeAccount } from './accounts/revoke-account.ts';
import { UpstreamClients } from './accounts/upstream-clients.ts';
import { ApprovalService } from './approvals/approval-service.ts';
import { createCacheRules } from './cache-rules/cache-rule-service.ts';
import { createConnectorServers } from './connectors/connector-servers.ts';
import { createConnectors, type ConnectorPorts } from './connectors/connector-service.ts';
import { HealthService, type HealthPorts } from './health/health-service.ts';
import { createMissingMigration, createReadiness } from './health/readiness.ts';
import { ServerService, type MonitorPort } from './registry/server-service.ts';
import { ImportService } from './transfer/import-service.ts';

export interface ServersDeps {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  secrets: SecretService;
  config: {
    allowsLoopback: boolean;
    connectorServers: number;
    clientDocumentUrl: string | undefined;
  };
  /** Access changed: drops this isolate's snapshot and notifies open streams. */
  onAccessChanged(): Promise<void>;
  /** Marks the registry that this isolate remembers as stale. */
  invalidateRegistry(): void;
  /** The Durable Objects that monitor the servers. */
  monitors: MonitorPort & Pick<HealthPorts, 'history'>;
  /** Reads the tool lists of callers' own accounts. */
  accountLists: Pick<RemoteAccountLists, 'read'>;
  /** The Durable Objects that hold the sockets of connector machines. */
  lines: ConnectorPorts['lines'];
}

export function createServers({ secrets, config, monitors, lines, ...deps }: ServersDeps) {
  const { db, keys, adminAudit } = deps;
  const { allowsLoopback, connectorServers: maxServers, clientDocumentUrl } = config;
  const flow = new CodeFlow(allowsLoopback);
  const clients = new UpstreamClients({ db, keys, flow });
  const onConnected = createOnConnected({ ...deps, monitors });
  const servers = new ServerService({ ...deps, allowsLoopback, monitors });
  return {
    servers,
    accounts: createAccounts({
      ...deps,
      onConnected,
      revoke: account => revokeAccount({ db, keys, flow, clients }, account),
    }),
    connecting: new Connecting({ ...deps, flow, clients, clientDocumentUrl, onConnected }),
    approvals: new ApprovalService({
      db,
      adminAudit,
      expect: (id, inMs) => monitors.expect(id, inMs),
    }),
    health: new HealthService({ db, history: monitors.history }),
    readiness: createReadiness(deps),
    missingMigration: createMissingMigration(db),
    cacheRules: createCacheRules(deps),
    connectors: createConnectors({ ...deps, lines }),
    connectorServers: createConnectorServers({ db, servers, maxServers }),
    imports: new ImportService({ db, adminAudit, servers, secrets, allowsLoopback }),
  };
}
