/**
 * The `oauth_grants` and `oauth_refresh_tokens` tables. Whoever redeems or refreshes writes the sealed answer first, where nobody did it
 * meanwhile; all else in the batch is written where that very answer is there, so that of many at once one is done whole.
 */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import type { SignedIn } from '../../sign-in/signed-in.ts';
import type { Scope } from '../../shared/identity/principal.ts';
import { GrantRowSchema, LIFE, type Grant } from './grant.ts';

const GRANT = `g.id, g.client_id, g.name, g.principal_id, g.token_id, g.identity_id, g.audience, g.scopes, g.servers, g.tools, g.toolsets,
  g.code_challenge, g.redirect_uri, g.code_expires_at, g.redeemed_at, g.answer_sealed, g.answer_until, g.created_at, g.expires_at,
  g.ends_at, g.last_used_at`;

const RefreshRowSchema = GrantRowSchema.extend({
  refresh_hmac: z.string(),
  used_at: z.number().nullable(),
});
/** A grant as the refresh token finds it that is shown. */
export type Refreshed = z.infer<typeof RefreshRowSchema>;

const toList = (items: readonly string[] | null) => (items === null ? null : JSON.stringify(items));
const marks = (items: readonly unknown[]) => items.map(() => '?').join(', ');

/** The person is still signed in, and still is somebody. */
export const whenSignedIn = ({ id, principalId }: SignedIn): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM sign_ins WHERE id = ? AND principal_id = ?)',
  params: [id, principalId],
});

/** What a person allows. What goes with a code is null for a program on a machine without a browser, whose code is another. */
export interface Granted {
  clientId: string;
  audience: string;
  scopes: readonly Scope[];
  challenge: string | null;
  redirectUri: string | null;
}

/** A grant that is made. */
export interface MadeGrant extends Omit<Grant, 'answer_sealed' | 'answer_until' | 'last_used_at'> {
  /** Null: it came of an assertion. */
  code_hmac: string | null;
  /** The passkey that brought back the token or identity of the person; else null. */
  passkey_id: string | null;
}

/** Make a grant, where that may be. */
export function insertGrant(
  db: D1Database,
  grant: MadeGrant,
  when: Condition,
): D1PreparedStatement {
  const { scopes, servers, tools, toolsets, ...rest } = grant;
  const lists = { servers: toList(servers), tools: toList(tools), toolsets: toList(toolsets) };
  const row = { ...rest, ...lists, scopes: JSON.stringify(scopes) };
  const values = Object.values(row);
  return db
    .prepare(
      `INSERT INTO oauth_grants (${Object.keys(row).join(', ')}) SELECT ${marks(values)} WHERE ${when.sql}`,
    )
    .bind(...values, ...when.params);
}

/** The grant of a code, whose HMAC is one of these; also one that was used or expired. */
export async function findByCode(
  db: D1Database,
  hmacs: readonly string[],
): Promise<Grant | undefined> {
  const row = await db
    .prepare(`SELECT ${GRANT} FROM oauth_grants AS g WHERE g.code_hmac IN (${marks(hmacs)})`)
    .bind(...hmacs)
    .first();
  return row === null ? undefined : GrantRowSchema.parse(row);
}

/** The grant of a refresh token, whose HMAC is one of these; also of one that was used. */
export async function findByRefresh(
  db: D1Database,
  hmacs: readonly string[],
): Promise<Refreshed | undefined> {
  const row = await db
    .prepare(
      `SELECT ${GRANT}, r.hmac AS refresh_hmac, r.used_at FROM oauth_refresh_tokens AS r
       JOIN oauth_grants AS g ON g.id = r.grant_id WHERE r.hmac IN (${marks(hmacs)})`,
    )
    .bind(...hmacs)
    .first();
  return row === null ? undefined : RefreshRowSchema.parse(row);
}

/** What `/token` gives out, as it is kept. */
export interface KeptAnswer {
  sealed: string;
  refreshHmac: string;
  keyId: string;
  now: number;
  /** Until when the grant is good after that. */
  expiresAt: number;
}

/** A code is used: write the answer, where that was not done before. */
export function redeemCode(
  db: D1Database,
  grant: Grant,
  answer: KeptAnswer,
): D1PreparedStatement[] {
  const { sealed, now, expiresAt } = answer;
  const redeem = db
    .prepare(
      `UPDATE oauth_grants SET redeemed_at = ?1, answer_sealed = ?2, answer_until = ?1, expires_at = ?3
       WHERE id = ?4 AND redeemed_at IS NULL AND code_expires_at > ?1`,
    )
    .bind(now, sealed, expiresAt, grant.id);
  return [redeem, insertRefresh(db, grant.id, answer)];
}

/** A refresh token is used: write the answer, where that was not done before. */
export function rotateRefresh(
  db: D1Database,
  grant: Refreshed,
  answer: KeptAnswer,
): D1PreparedStatement[] {
  const { sealed, now, expiresAt } = answer;
  return [
    db
      .prepare(
        `UPDATE oauth_grants SET answer_sealed = ?1, answer_until = ?2, expires_at = ?3, last_used_at = ?4
         WHERE id = ?5 AND expires_at > ?4
           AND EXISTS (SELECT 1 FROM oauth_refresh_tokens WHERE hmac = ?6 AND used_at IS NULL)`,
      )
      .bind(sealed, now + LIFE.grace, expiresAt, now, grant.id, grant.refresh_hmac),
    db
      .prepare(
        `UPDATE oauth_refresh_tokens SET used_at = ?1 WHERE hmac = ?2 AND ${WHEN_OURS.replaceAll('$g', '?3').replaceAll('$s', '?4')}`,
      )
      .bind(now, grant.refresh_hmac, grant.id, sealed),
    insertRefresh(db, grant.id, answer),
    db
      .prepare('DELETE FROM oauth_refresh_tokens WHERE grant_id = ? AND expires_at <= ?')
      .bind(grant.id, now),
    db.prepare('DELETE FROM tokens WHERE grant_id = ? AND expires_at <= ?').bind(grant.id, now),
  ];
}

/** The answer of a grant is this one: it was written by this very batch. */
const WHEN_OURS = 'EXISTS (SELECT 1 FROM oauth_grants WHERE id = $g AND answer_sealed = $s)';

function insertRefresh(
  db: D1Database,
  grantId: string,
  { sealed, refreshHmac, keyId, now }: KeptAnswer,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO oauth_refresh_tokens (hmac, key_id, grant_id, created_at, expires_at)
       SELECT ?1, ?2, ?3, ?4, ?5 WHERE ${WHEN_OURS.replace('$g', '?3').replace('$s', '?6')}`,
    )
    .bind(refreshHmac, keyId, grantId, now, now + LIFE.refresh, sealed);
}

/** Insert the access token of a grant, where this answer is its last; null: where it has none. */
export function insertAccessToken(
  db: D1Database,
  grant: Pick<Grant, 'id'>,
  {
    sealed,
    keyId,
    now,
    expiresAt,
  }: Pick<KeptAnswer, 'keyId' | 'now' | 'expiresAt'> & {
    sealed: string | null;
  },
  { id, hmac }: { id: string; hmac: string },
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO tokens (id, name, hmac, key_id, servers, tools, toolsets, scopes, created_at, expires_at, principal_id, grant_id, audience)
       SELECT ?, g.name, ?, ?, g.servers, g.tools, g.toolsets, g.scopes, ?, ?, g.principal_id, g.id, g.audience
       FROM oauth_grants AS g JOIN principals AS p ON p.id = g.principal_id WHERE g.id = ? AND g.answer_sealed IS ?`,
    )
    .bind(id, hmac, keyId, now, Math.min(now + LIFE.access, expiresAt), grant.id, sealed);
}

/** End a grant; triggers take its tokens. */
export const deleteGrant = (db: D1Database, id: string): D1PreparedStatement =>
  db.prepare('DELETE FROM oauth_grants WHERE id = ?').bind(id);

/** The grant is there. */
export const whenGrant = (id: string): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM oauth_grants WHERE id = ?)',
  params: [id],
});

/** Delete grants that are over, some at a time. */
export function sweepGrants(db: D1Database, now: number): D1PreparedStatement {
  return db
    .prepare(
      'DELETE FROM oauth_grants WHERE id IN (SELECT id FROM oauth_grants WHERE expires_at <= ? LIMIT 20)',
    )
    .bind(now);
}

/** The grant of a client that has but one access token, with one of these HMACs: it came of an assertion. */
export async function findAsserted(
  db: D1Database,
  hmacs: readonly string[],
  clientId: string,
): Promise<Grant | undefined> {
  const row = await db
    .prepare(
      `SELECT ${GRANT} FROM tokens AS t JOIN oauth_grants AS g ON g.id = t.grant_id
       WHERE t.hmac IN (${marks(hmacs)}) AND g.client_id = ? AND g.code_hmac IS NULL`,
    )
    .bind(...hmacs, clientId)
    .first();
  return row === null ? undefined : GrantRowSchema.parse(row);
}

/** Delete the access token with one of these HMACs, of a grant of this client. */
export function deleteAccessToken(
  db: D1Database,
  hmacs: readonly string[],
  clientId: string,
): D1PreparedStatement {
  return db
    .prepare(
      `DELETE FROM tokens WHERE hmac IN (${marks(hmacs)}) AND grant_id IN (SELECT id FROM oauth_grants WHERE client_id = ?)`,
    )
    .bind(...hmacs, clientId);
}

/** Most grants that one person has with one client; of more the oldest end. */
const MAX_OF_CLIENT = 50;

/** End what is too many. */
export function limitGrants(
  db: D1Database,
  principalId: string,
  clientId: string,
): D1PreparedStatement {
  return db
    .prepare(
      `DELETE FROM oauth_grants WHERE id IN (SELECT id FROM oauth_grants WHERE principal_id = ? AND client_id = ?
         ORDER BY coalesce(last_used_at, created_at) DESC LIMIT -1 OFFSET ${MAX_OF_CLIENT})`,
    )
    .bind(principalId, clientId);
}

/** Grants whose code was used. */
export const SHOWN_GRANTS = `(SELECT g.*, p.name AS principal_name FROM oauth_grants AS g
  JOIN principals AS p ON p.id = g.principal_id WHERE g.redeemed_at IS NOT NULL)`;

/** It is not over. */
export const whenAlive = (now: number): Condition => ({ sql: 'expires_at > ?', params: [now] });
