/** Creates the parts of access: who calls, on which state that is decided, and the records that administrators edit. */
import type { AdminAudit } from '../audit/admin-audit.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { isTokenForm } from '../shared/identity/principal.ts';
import { SealedIds } from './admission/sealed-id.ts';
import { Sessions, type SessionsOptions } from './admission/sessions.ts';
import { Snapshots } from './admission/snapshots.ts';
import type { AccessState } from './policy/policy.ts';
import { createBudgets, type BudgetPorts } from './budgets/budget-service.ts';
import { createFindOwnPrincipal } from './principals/own-principal.ts';
import { createPrincipals } from './principals/principal-service.ts';
import { createRules } from './rules/rule-service.ts';
import { SetupService } from './setup/setup-service.ts';
import { createTokens } from './tokens/token-service.ts';
import { createToolsets } from './toolsets/toolset-service.ts';

export interface AccessDeps {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  /** Token of the deployment's administrator; empty or absent where there is none. */
  adminToken: string | undefined;
  config: SessionsOptions['config'] & {
    defaultAccess: AccessState['defaultAccess'];
    snapshotMaxAgeMs: number;
  };
  /** Notifies open streams that access changed. */
  notifyAccessChanged(): Promise<unknown>;
  budgetShardOf: BudgetPorts['budgetShardOf'];
}

/** @throws Error where the administrator's token does not have the form of a token */
export function createAccess({ db, keys, adminAudit, config, ...deps }: AccessDeps) {
  const adminToken = deps.adminToken || undefined;
  if (adminToken !== undefined && !isTokenForm(adminToken)) {
    throw new Error('PORTICO_ADMIN_TOKEN must be portico_ and 43 base64url characters');
  }
  const { defaultAccess, snapshotMaxAgeMs: maxAgeMs } = config;
  const snapshots = new Snapshots({ db, keys, adminToken, defaultAccess, maxAgeMs });
  /** Access changed: drop this isolate's snapshot and notify open streams. */
  async function onAccessChanged(): Promise<void> {
    snapshots.forgetServers();
    snapshots.forgetTokens();
    await deps.notifyAccessChanged();
  }
  /** Marks the registry that this isolate remembers as too old. */
  const invalidateRegistry = () => snapshots.forgetServers();
  const ports = { db, adminAudit, onAccessChanged };
  return {
    snapshots,
    onAccessChanged,
    invalidateRegistry,
    sessions: new Sessions({ db, sealedIds: new SealedIds(keys), snapshots, config }),
    principals: createPrincipals(ports),
    findOwnPrincipal: createFindOwnPrincipal(db),
    tokens: createTokens({ ...ports, keys }),
    rules: createRules(ports),
    toolsets: createToolsets(ports),
    budgets: createBudgets({ ...ports, invalidateRegistry, budgetShardOf: deps.budgetShardOf }),
    setup: new SetupService({ db, keys, adminAudit }),
  };
}
