/**
 * Builds from the bindings what the object of a principal and a server needs for the principal's account there: token renewal and the
 * lists that the server shows to the account.
 */
import { AdminAudit } from '../audit/admin-audit.ts';
import { configOf } from '../config.ts';
import { CodeFlow } from '../credentials/oauth/code-flow.ts';
import { findCatalogText } from '../monitor/catalog-kv.ts';
import { AccountTokens } from '../servers/accounts/account-tokens.ts';
import { findServerOf } from '../servers/accounts/reached-servers.ts';
import { UpstreamClients } from '../servers/accounts/upstream-clients.ts';
import { createKeyRing } from '../shared/crypto/key-ring.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';
import { AccountLists } from '../upstream/account-lists.ts';
import type { UpstreamEndpoints } from '../upstream/endpoint.ts';

export function accountsOf(env: Env, ctx: DurableObjectState, endpoints: UpstreamEndpoints) {
  const db = env.DB;
  const keys = createKeyRing(env.PORTICO_KEYS);
  const config = configOf(env);
  const flow = new CodeFlow(config.allowsLoopback);
  const clients = new UpstreamClients({ db, keys, flow });
  const adminAudit = new AdminAudit(db);
  const waitUntil: WaitUntil = work => ctx.waitUntil(work);
  return {
    tokens: new AccountTokens({ db, keys, adminAudit, flow, clients, waitUntil }),
    lists: new AccountLists({
      db,
      endpoints,
      findServer: serverId => findServerOf(db, serverId, ctx.id.name ?? ''),
      findText: (serverId, hash) => findCatalogText(env.CATALOG, serverId, hash),
      onChanged: () => env.ACCESS_CHANGES.getByName('all').changed(),
      waitUntil,
      maxBytes: config.maxAnswerBytes,
    }),
  };
}
