/**
 * Issues tokens for an assertion: a grant with one access token and no refresh token, since the client gets the next token with another
 * assertion. Everything is one batch with the row that marks the assertion as used, so that of two concurrent uses only one succeeds.
 */
import { PRINCIPALS } from '../../access/principals/principal-store.ts';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf, findRecord, whenRecord } from '../../records/record-store.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import {
  toOwnActor,
  boundScopes,
  createTokenValue,
  MEMBER_SCOPES,
  type Scope,
} from '../../shared/identity/principal.ts';
import type { Identity } from '../../sign-in/identities/identity-schema.ts';
import { IDENTITIES, renewIdentity } from '../../sign-in/identities/identity-store.ts';
import { keepAssertion } from '../clients/assertion-store.ts';
import type { OAuthClient } from '../clients/client.ts';
import { CLIENTS } from '../clients/client-store.ts';
import { OAuthError } from '../oauth-error.ts';
import { LIFE, type TokenAnswer } from './grant.ts';
import {
  insertAccessToken,
  insertGrant,
  limitGrants,
  sweepGrants,
  whenGrant,
  type MadeGrant,
} from './grant-store.ts';
import type { IssuePorts } from './issue.ts';

/** What an assertion entitles a client to. */
export interface Asserted {
  client: OAuthClient;
  /** The identity to be written. */
  identity: Identity;
  audience: string;
  /** The scopes that both the assertion and the client name. */
  scopes: readonly Scope[];
  /** Hash by which a used assertion is remembered, until when, and the condition for its use. */
  once: { hash: string; until: number; when: Condition };
}

/**
 * @throws OAuthError `invalid_scope` @throws PorticoError `forbidden` if the assertion was used before, or its provider, identity or client
 * is gone
 */
export async function issueForAssertion(
  { client, identity, audience, scopes: named, once }: Asserted,
  ports: IssuePorts,
): Promise<TokenAnswer> {
  const { db, keys, adminAudit, onAccessChanged, now: clock } = ports;
  const { id: identityId, principal_id: principalId } = identity;
  const bound = (await findRecord(db, PRINCIPALS, principalId))?.scopes ?? MEMBER_SCOPES;
  const scopes = boundScopes(named, bound);
  if (scopes.length === 0)
    throw new OAuthError('invalid_scope', 'They may not grant any of these scopes');
  const [now, value] = [clock(), createTokenValue()];
  const [hmac = ''] = await keys.hmacs('token', value);
  const expiresAt = Math.min(now + LIFE.access, identity.expires_at);
  const { id: clientId, name } = client;
  const grant = toGrant({ client, identity, audience, scopes }, now, expiresAt);
  const { id } = grant;
  const when = allOf(once.when, whenRecord(IDENTITIES, identityId), whenRecord(CLIENTS, clientId));
  const token = { id: crypto.randomUUID(), hmac };
  const act = { action: 'grant.create', subject: id };
  await adminAudit.perform(toOwnActor(principalId, identityId), 'admin', act, async commit => {
    const isDone = await commit({
      when,
      statements: [
        insertGrant(db, grant, when),
        insertAccessToken(db, grant, { sealed: null, keyId: keys.active, now, expiresAt }, token),
        renewIdentity(db, identity, whenGrant(id)),
        ...keepAssertion(db, once.hash, once.until, now),
        limitGrants(db, principalId, clientId),
        sweepGrants(db, now),
      ],
      detail: { name, client: clientId, audience, scopes, by: 'assertion' },
    });
    if (!isDone) {
      throw new PorticoError(
        'forbidden',
        'It was used before, or the identity or the client no longer exists',
      );
    }
  });
  await onAccessChanged();
  return {
    access_token: value,
    token_type: 'Bearer',
    expires_in: Math.floor((expiresAt - now) / 1000),
    scope: scopes.join(' '),
    resource: audience,
  };
}

function toGrant(
  { client, identity, audience, scopes }: Omit<Asserted, 'once'> & { scopes: Scope[] },
  now: number,
  expiresAt: number,
): MadeGrant {
  return {
    id: crypto.randomUUID(),
    client_id: client.id,
    name: client.name,
    principal_id: identity.principal_id,
    token_id: null,
    identity_id: identity.id,
    passkey_id: null,
    audience,
    scopes,
    servers: null,
    tools: null,
    toolsets: null,
    code_hmac: null,
    code_challenge: null,
    redirect_uri: null,
    code_expires_at: null,
    redeemed_at: now,
    created_at: now,
    expires_at: expiresAt,
    ends_at: identity.expires_at,
  };
}
