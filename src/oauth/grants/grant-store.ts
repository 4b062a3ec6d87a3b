/**
 * The `oauth_grants` and `oauth_refresh_tokens` tables. A batch that redeems or refreshes first writes its sealed response, unless another
 * batch did so meanwhile. All other statements of the batch apply only if that very response is stored, so that of several concurrent
 * batches exactly one takes full effect.
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
/** A grant, found by a refresh token. */
export type Refreshed = z.infer<typeof RefreshRowSchema>;

const toList = (items: readonly string[] | null) => (items === null ? null : JSON.stringify(items));
const marks = (items: readonly unknown[]) => items.map(() => '?').join(', ');

/** Condition: the person is still signed in, and the principal still exists. */
export const whenSignedIn = ({ id, principalId }: SignedIn): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM sign_ins WHERE id = ? AND principal_id = ?)',
  params: [id, principalId],
});

/** What a person allows. `challenge` and `redirectUri` are null for a program with a device code. */
export interface Granted {
  clientId: string;
  audience: string;
  scopes: readonly Scope[];
  challenge: string | null;
  redirectUri: string | null;
}

/** A new grant. */
export interface MadeGrant extends Omit<Grant, 'answer_sealed' | 'answer_until' | 'last_used_at'> {
  /** Null for a grant from an assertion. */
  code_hmac: string | null;
  /** The passkey the person signed in with, in place of the token or identity it was registered under; else null. */
  passkey_id: string | null;
}

/** Inserts a grant, if the condition holds. */
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

/** Finds the grant of a code, even if the code was used or has expired. @param hmacs the HMACs the code may be stored as */
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

/** Finds the grant of a refresh token, even of a used one. @param hmacs the HMACs the token may be stored as */
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

/** The response of `/token`, as it is stored. */
export interface KeptAnswer {
  sealed: string;
  refreshHmac: string;
  keyId: string;
  now: number;
  /** When the grant expires after this response. */
  expiresAt: number;
}

/** Redeems a code: writes the response, unless the code was redeemed before. */
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

/** Maximum number of tokens that a grant keeps, however often its program refreshes; beyond it the oldest are deleted. */
const MAX_OF_GRANT = { refresh: 1_000, access: 50 } as const;

/** Uses a refresh token: writes the response, unless the token was used before. */
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
      .prepare(
        `DELETE FROM oauth_refresh_tokens WHERE grant_id = ?1 AND (expires_at <= ?2 OR hmac IN (SELECT hmac FROM oauth_refresh_tokens
           WHERE grant_id = ?1 ORDER BY used_at IS NULL DESC, used_at DESC LIMIT -1 OFFSET ${MAX_OF_GRANT.refresh}))`,
      )
      .bind(grant.id, now),
    db
      .prepare(
        `DELETE FROM tokens WHERE grant_id = ?1 AND (expires_at <= ?2 OR id IN (SELECT id FROM tokens
           WHERE grant_id = ?1 ORDER BY created_at DESC LIMIT -1 OFFSET ${MAX_OF_GRANT.access - 1}))`,
      )
      .bind(grant.id, now),
  ];
}

/** Condition: the grant's response is this one, so this very batch wrote it. */
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

/** Inserts the access token of a grant, if this response is the grant's last one; `sealed` is null if the grant has none. */
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

/** Deletes a grant; triggers delete its tokens. */
export const deleteGrant = (db: D1Database, id: string): D1PreparedStatement =>
  db.prepare('DELETE FROM oauth_grants WHERE id = ?').bind(id);

/** Condition: the grant exists. */
export const whenGrant = (id: string): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM oauth_grants WHERE id = ?)',
  params: [id],
});

/** Deletes expired grants, a few at a time. */
export function sweepGrants(db: D1Database, now: number): D1PreparedStatement {
  return db
    .prepare(
      'DELETE FROM oauth_grants WHERE id IN (SELECT id FROM oauth_grants WHERE expires_at <= ? LIMIT 20)',
    )
    .bind(now);
}

/**
 * Finds the client's grant from an assertion, which has only one access token, by that token. @param hmacs the HMACs the token may be
 * stored as
 */
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

/** Deletes an access token of a grant of this client. @param hmacs the HMACs the token may be stored as */
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

/**
 * Maximum number of grants of one person with one client; beyond it the oldest end. Those whose code was not redeemed count by themselves:
 * any page can make a signed-in browser open `/authorize` again and again. So do those by each token: a weak one ends none of a strong one.
 */
const MAX_OF_CLIENT = 50;

/** Ends the grants beyond the limit. */
export function limitGrants(
  db: D1Database,
  principalId: string,
  clientId: string,
): D1PreparedStatement {
  return db
    .prepare(
      `DELETE FROM oauth_grants WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY token_id, redeemed_at IS NULL
         ORDER BY coalesce(last_used_at, created_at) DESC) AS place FROM oauth_grants WHERE principal_id = ? AND client_id = ?)
         WHERE place > ${MAX_OF_CLIENT})`,
    )
    .bind(principalId, clientId);
}

/** Grants whose code was redeemed. */
export const SHOWN_GRANTS = `(SELECT g.*, p.name AS principal_name FROM oauth_grants AS g
  JOIN principals AS p ON p.id = g.principal_id WHERE g.redeemed_at IS NOT NULL)`;

/** Condition: the grant has not expired. */
export const whenAlive = (now: number): Condition => ({ sql: 'expires_at > ?', params: [now] });
