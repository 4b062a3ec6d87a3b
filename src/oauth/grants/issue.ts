/**
 * Issues tokens for a code or a refresh token. Of several concurrent requests with one refresh token, one gets new tokens, and for a short
 * while the others get the same. Later use of that refresh token, or a second use of a code, ends the grant, since one of its two holders
 * is not the client (RFC 9700 §4.14).
 */
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { toOwnActor, createTokenValue } from '../../shared/identity/principal.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { OAuthClients } from '../clients/client.ts';
import { OAuthError } from '../oauth-error.ts';
import { createOpaque, expiryOf, LIFE, toKept, type Grant, type TokenAnswer } from './grant.ts';
import {
  deleteGrant,
  findByRefresh,
  insertAccessToken,
  redeemCode,
  rotateRefresh,
  whenGrant,
  type KeptAnswer,
  type Refreshed,
} from './grant-store.ts';

export interface IssuePorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  clients: Pick<OAuthClients, 'touch'>;
  onAccessChanged(): Promise<void>;
  now(): number;
}

const invalidGrant = (description: string) => new OAuthError('invalid_grant', description);

/** @param grant found by its code @throws OAuthError `invalid_grant` */
export async function issueForCode(grant: Grant, ports: IssuePorts): Promise<TokenAnswer> {
  const { db } = ports;
  const made = await makeAnswer(grant, ports);
  const [redeemed] = await db.batch([
    ...redeemCode(db, grant, made.kept),
    insertAccessToken(db, grant, made.kept, made.token),
  ]);
  if (redeemed?.meta.changes === 1) return made.answer;
  const isExpired = (grant.code_expires_at ?? 0) <= ports.now();
  if (isExpired && grant.redeemed_at === null) throw invalidGrant('The code has expired');
  await endGrant(grant, 'code_used_twice', ports);
  throw invalidGrant('The code was used before');
}

/** @param grant found by its refresh token @throws OAuthError `invalid_grant`, `temporarily_unavailable` */
export async function issueForRefresh(grant: Refreshed, ports: IssuePorts): Promise<TokenAnswer> {
  const { db, now } = ports;
  if (grant.expires_at <= now()) throw invalidGrant('The grant has expired; sign in again');
  if (grant.used_at !== null) return answerAgain(grant, ports);
  const made = await makeAnswer(grant, ports);
  const [rotated] = await db.batch([
    ...rotateRefresh(db, grant, made.kept),
    insertAccessToken(db, grant, made.kept, made.token),
  ]);
  if (rotated?.meta.changes === 1) return made.answer;
  const found = await findByRefresh(db, [grant.refresh_hmac]);
  if (!found) throw invalidGrant('The grant was ended');
  return answerAgain(found, ports);
}

/** Returns the response that was already given for a refresh token that was just used. After the grace time, ends the grant. */
async function answerAgain(grant: Refreshed, ports: IssuePorts): Promise<TokenAnswer> {
  const usedAt = grant.used_at ?? 0;
  if (usedAt + LIFE.grace <= ports.now()) {
    await endGrant(grant, 'refresh_token_used_again', ports);
    throw invalidGrant('The refresh token was used before; sign in again');
  }
  const text = await ports.keys.open('oauth', grant.answer_sealed ?? '', boundTo(grant));
  if (text === undefined) {
    throw new OAuthError('temporarily_unavailable', 'The answer cannot be read now; try again');
  }
  return JSON.parse(text) as TokenAnswer;
}

/** Ends a grant with all its tokens, for a reason that the audit records. */
export async function endGrant(
  grant: Grant,
  reason: string,
  { db, adminAudit, onAccessChanged }: Pick<IssuePorts, 'db' | 'adminAudit' | 'onAccessChanged'>,
): Promise<void> {
  const { id, principal_id: principalId, name, client_id: client } = grant;
  const act = { action: 'grant.delete', subject: id };
  await adminAudit.perform(toOwnActor(principalId, id), 'admin', act, commit =>
    commit({
      when: whenGrant(id),
      statements: [deleteGrant(db, id)],
      detail: { name, client, reason },
    }),
  );
  await onAccessChanged();
}

const boundTo = ({ id }: Grant) => `answer|${id}`;

interface Made {
  answer: TokenAnswer;
  kept: KeptAnswer;
  token: { id: string; hmac: string };
}

async function makeAnswer(grant: Grant, { keys, now: clock }: IssuePorts): Promise<Made> {
  const now = clock();
  const expiresAt = expiryOf(grant, now);
  const [access, refresh] = [createTokenValue(), createOpaque('refresh')];
  const answer: TokenAnswer = {
    access_token: access,
    token_type: 'Bearer',
    expires_in: Math.floor((Math.min(now + LIFE.access, expiresAt) - now) / 1000),
    refresh_token: refresh,
    scope: grant.scopes.join(' '),
  };
  const [[hmac = ''], [refreshHmac = ''], sealed] = await Promise.all([
    keys.hmacs('token', access),
    keys.hmacs('oauth', toKept('refresh', refresh)),
    keys.seal('oauth', JSON.stringify(answer), boundTo(grant)),
  ]);
  return {
    answer,
    kept: { sealed, refreshHmac, keyId: keys.active, now, expiresAt },
    token: { id: crypto.randomUUID(), hmac },
  };
}
