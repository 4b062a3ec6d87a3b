/** The parts of ask, joined. */
import type { Acts } from '../../audit/admin-audit.ts';
import { listAllowed } from './allowlist-store.ts';
import { AllowlistService } from './allowlist-service.ts';
import { AskService, type AskPorts } from './ask-service.ts';

export interface AskParts {
  ask: AskService;
  askAllowlist: AllowlistService;
}

export function createAsk(
  db: D1Database,
  acts: Acts,
  ports: Pick<AskPorts, 'gateway' | 'model' | 'tracer' | 'settings'>,
): AskParts {
  return {
    ask: new AskService({
      ...ports,
      allowedTo: principalId => listAllowed(db, principalId),
      now: () => Date.now(),
    }),
    askAllowlist: new AllowlistService({ db, acts }),
  };
}
