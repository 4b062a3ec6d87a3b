/** Tokens that an issuer gave, as an account keeps them: each sealed for its place. Pure but for the key ring. */
import type { IssuedTokens } from '../../credentials/oauth/code-flow-schema.ts';
import { escapeReferences } from '../../credentials/references.ts';
import { sealCredential, type Owner } from '../../credentials/sealed-credential.ts';
import { sealEnvelope } from '../../shared/crypto/envelope.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { FreshToken } from '../../shared/identity/account.ts';
import { refreshPlace, type Grant } from './grant-schema.ts';

export interface SealedTokens {
  token: FreshToken;
  /** Null where there is nothing to renew it with. */
  refreshSealed: string | null;
  /** Undefined where the issuer did not say it. */
  scope: string | undefined;
}

/** A token as an account is called with it. A reference to a secret of the deployment is nobody's to make who gives one. */
export const sealToken = (keys: KeyRing, owner: Owner, token: string): Promise<string> =>
  sealCredential(keys, owner, 'auth', { type: 'bearer', token: escapeReferences(token) });

/** @param serial of the token among those of the account */
export async function sealIssued(
  keys: KeyRing,
  server: { id: string; url: string },
  account: Pick<Grant, 'account_id' | 'principal_id' | 'server_id' | 'issuer' | 'resource'>,
  serial: number,
  { accessToken, refreshToken, scope, lifetimeMs }: IssuedTokens,
): Promise<SealedTokens> {
  const owner = {
    id: server.id,
    url: server.url,
    account: { id: account.account_id, principalId: account.principal_id },
  };
  const issuedAt = Date.now();
  return {
    token: {
      sealed: await sealToken(keys, owner, accessToken),
      serial,
      issuedAt,
      expiresAt: issuedAt + lifetimeMs,
    },
    refreshSealed:
      refreshToken === undefined
        ? null
        : await sealEnvelope(keys, refreshToken, refreshPlace(account)),
    scope,
  };
}
