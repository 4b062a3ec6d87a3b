/** Seals the tokens that an issuer gave, each for its place. Pure but for the key ring. */
import type { IssuedTokens } from '../../credentials/oauth/code-flow-schema.ts';
import { escapeReferences } from '../../credentials/references.ts';
import { sealCredential, type Owner } from '../../credentials/sealed-credential.ts';
import { sealEnvelope } from '../../shared/crypto/envelope.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { FreshToken } from '../../shared/identity/account.ts';
import { refreshPlace, type Grant } from './grant-schema.ts';

export interface SealedTokens {
  token: FreshToken;
  /** Null if the issuer gave no refresh token. */
  refreshSealed: string | null;
  /** Undefined if the issuer did not report it. */
  scope: string | undefined;
}

/** Seals the token that an account's calls carry. References are escaped: a pasted token must not resolve to a secret of the deployment. */
export const sealToken = (keys: KeyRing, owner: Owner, token: string): Promise<string> =>
  sealCredential(keys, owner, 'auth', { type: 'bearer', token: escapeReferences(token) });

/** @param serial number of the token among those of the account */
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
