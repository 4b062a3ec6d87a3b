/** Revokes an account's token at its issuer when the account is deleted (RFC 7009). Best effort: the account is deleted in any case. */
import type { CodeFlowPort } from '../../credentials/oauth/code-flow-schema.ts';
import { fillReferences } from '../../credentials/references.ts';
import { openAuth } from '../../credentials/sealed-credential.ts';
import { openEnvelope } from '../../shared/crypto/envelope.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Server } from '../registry/server-schema.ts';
import { findServer } from '../registry/server-store.ts';
import { refreshPlace, tokenPlaceOf, type Grant } from './grant-schema.ts';
import { findGrant } from './grant-store.ts';
import type { UpstreamClients } from './upstream-clients.ts';

export interface RevokePorts {
  db: D1Database;
  keys: KeyRing;
  flow: Pick<CodeFlowPort, 'revoke'>;
  clients: Pick<UpstreamClients, 'of'>;
}

/** Revokes the account's refresh token, with which its access tokens end; without one, its access token. */
export async function revokeAccount(ports: RevokePorts, { id }: { id: string }): Promise<void> {
  const { db, flow, clients } = ports;
  const grant = await findGrant(db, id);
  if (!grant || grant.ended || grant.revocation_endpoint === null) return;
  try {
    const server = await findServer(db, grant.server_id);
    const client = server && (await clients.of(server, grant));
    const token = server && (await tokenOf(ports.keys, server, grant));
    if (client && token) await flow.revoke(tokenPlaceOf(grant), client, token);
  } catch {
    // An issuer that does not respond must not prevent the deletion of an account here.
  }
}

async function tokenOf(
  keys: KeyRing,
  { id, url }: Server,
  grant: Grant,
): Promise<string | undefined> {
  if (grant.refresh_sealed !== null) {
    return openEnvelope(keys, grant.refresh_sealed, refreshPlace(grant));
  }
  const account = { id: grant.account_id, principalId: grant.principal_id };
  const auth = await openAuth(keys, { id, url, account }, grant.auth_sealed);
  return auth?.type === 'bearer' ? fillReferences(auth.token, () => undefined) : undefined;
}
