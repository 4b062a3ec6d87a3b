/** The registry and what belongs to a server: approvals, health, cache rules, connectors, imports. */
import type { AdminAudit } from '../audit/admin-audit.ts';
import type { SecretService } from '../credentials/secret-service.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { createAccounts } from './accounts/account-service.ts';
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
  config: { allowsLoopback: boolean; connectorServers: number };
  /** Tells that access changed. */
  onAccessChanged(): Promise<void>;
  /** The registry that this isolate remembers is too old. */
  invalidateRegistry(): void;
  /** The objects that look after the servers. */
  monitors: MonitorPort & Pick<HealthPorts, 'history'> & { wake(serverId: string): Promise<void> };
  /** The objects that hold the connections of machines. */
  lines: ConnectorPorts['lines'];
}

export function createServers({ secrets, config, monitors, lines, ...deps }: ServersDeps) {
  const { db, adminAudit } = deps;
  const { allowsLoopback, connectorServers: maxServers } = config;
  const servers = new ServerService({ ...deps, allowsLoopback, monitors });
  return {
    servers,
    accounts: createAccounts({ ...deps, monitors }),
    approvals: new ApprovalService({ db, adminAudit, discover: id => monitors.wake(id) }),
    health: new HealthService({ db, history: monitors.history }),
    readiness: createReadiness(deps),
    missingMigration: createMissingMigration(db),
    cacheRules: createCacheRules(deps),
    connectors: createConnectors({ ...deps, lines }),
    connectorServers: createConnectorServers({ db, servers, maxServers }),
    imports: new ImportService({ db, adminAudit, servers, secrets, allowsLoopback }),
  };
}
