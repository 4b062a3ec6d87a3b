/** Creates the audit: the part that records administrative changes, and the parts that read and check all rows. */
import { AdminAudit, ADMIN_SHARD } from './admin-audit.ts';
import { AuditService } from './audit-service.ts';
import { UsageService } from './usage/usage-service.ts';
import type { KeptChain } from './calls/call-schema.ts';
import type { KeptSeals } from './chunks/call-chain.ts';

export interface AuditDeps {
  db: D1Database;
  /** The object that exports the rows of a shard. */
  auditLogOf(shard: string): { wake(): Promise<unknown> };
  keepChain(shard: string): Promise<KeptChain>;
  /** The object that seals the chunks of calls. */
  keepCalls(): Promise<KeptSeals>;
  /** Adds calls up, in the same object. */
  addUpCalls(isWhole: boolean): Promise<void>;
}

export function createAudit({ db, auditLogOf, keepChain, keepCalls, addUpCalls }: AuditDeps) {
  return {
    adminAudit: new AdminAudit(db, () => auditLogOf(ADMIN_SHARD).wake()),
    audit: new AuditService(db, keepChain, keepCalls),
    callUsage: new UsageService(db, addUpCalls),
  };
}
