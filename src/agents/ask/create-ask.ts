/** The parts of ask, joined. */
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { listAllowed } from './allowlist-store.ts';
import { createAllowlist, type Allowlist } from './allowlist-service.ts';
import { AskService, type AskPorts } from './ask-service.ts';

export interface AskParts {
  ask: AskService;
  askAllowlist: Allowlist;
}

export function createAsk(
  db: D1Database,
  adminAudit: AdminAudit,
  ports: Pick<AskPorts, 'gateway' | 'model' | 'tracer' | 'settings'>,
): AskParts {
  return {
    ask: new AskService({
      ...ports,
      allowedTo: principalId => listAllowed(db, principalId),
      now: () => Date.now(),
    }),
    askAllowlist: createAllowlist({ db, adminAudit }),
  };
}
