/** What renews the accounts of a principal at a server, built of the bindings, for the object of both. */
import { AdminAudit } from '../audit/admin-audit.ts';
import { configOf } from '../config.ts';
import { CodeFlow } from '../credentials/oauth/code-flow.ts';
import { AccountTokens } from '../servers/accounts/account-tokens.ts';
import { UpstreamClients } from '../servers/accounts/upstream-clients.ts';
import { createKeyRing } from '../shared/crypto/key-ring.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';

export function accountTokensOf(env: Env, waitUntil: WaitUntil): AccountTokens {
  const db = env.DB;
  const keys = createKeyRing(env.PORTICO_KEYS);
  const flow = new CodeFlow(configOf(env).allowsLoopback);
  const clients = new UpstreamClients({ db, keys, flow });
  return new AccountTokens({ db, keys, adminAudit: new AdminAudit(db), flow, clients, waitUntil });
}
