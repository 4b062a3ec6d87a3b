/** The `account_grants` table. Reads return parsed rows; writes return statements, which change nothing where the token is another one meanwhile. */
import type { Condition } from '../../audit/audit-store.ts';
import type { FreshToken } from '../../shared/identity/account.ts';
import { onEitherSchema } from '../../shared/util/either-schema.ts';
import { GrantSchema, type EndReason, type Grant } from './grant-schema.ts';

/** What an account that is connected has of one; undefined where it was made of a pasted token, or is gone. */
export async function findGrant(db: D1Database, accountId: string): Promise<Grant | undefined> {
  const statement = db
    .prepare(
      `SELECT g.*, a.principal_id, a.server_id, a.auth_sealed FROM account_grants AS g JOIN accounts AS a ON a.id = g.account_id
       WHERE g.account_id = ?`,
    )
    .bind(accountId);
  const found = await onEitherSchema(async age => (age === 'this' ? statement.first() : null));
  return found === null ? undefined : GrantSchema.parse(found);
}

/** The columns that a sign-in writes. */
export type NewGrant = Omit<
  Grant,
  'principal_id' | 'server_id' | 'auth_sealed' | 'wanted_scope' | 'sent_serial' | 'ended'
>;

/** Put a grant in the place of the account's former one. @param when as the account itself is written */
export function writeGrant(db: D1Database, grant: NewGrant): D1PreparedStatement {
  const columns = Object.keys(grant);
  return db
    .prepare(
      `INSERT OR REPLACE INTO account_grants (${columns.join(', ')})
       SELECT ${columns.map(() => '?').join(', ')} WHERE EXISTS (SELECT 1 FROM accounts WHERE id = ?)`,
    )
    .bind(...Object.values(grant), grant.account_id);
}

/** An account is of a pasted token now. */
export const deleteGrant = (db: D1Database, accountId: string): D1PreparedStatement =>
  db.prepare('DELETE FROM account_grants WHERE account_id = ?').bind(accountId);

/** Note that a renewal is sent, before it is. @returns whether the token is still this one */
export async function noteSent(db: D1Database, { account_id, serial }: Grant): Promise<boolean> {
  const { meta } = await db
    .prepare('UPDATE account_grants SET sent_serial = serial WHERE account_id = ? AND serial = ?')
    .bind(account_id, serial)
    .run();
  return meta.changes > 0;
}

/** Store what a renewal gave, both parts or neither. @returns whether the token was still the former one */
export async function storeRenewed(
  db: D1Database,
  { account_id, serial }: Grant,
  token: FreshToken,
  given: { refreshSealed: string; scope: string | null },
): Promise<boolean> {
  const isFormer = 'EXISTS (SELECT 1 FROM account_grants WHERE account_id = ? AND serial = ?)';
  const [renewed] = await db.batch([
    db
      .prepare(`UPDATE accounts SET auth_sealed = ? WHERE id = ? AND ${isFormer}`)
      .bind(token.sealed, account_id, account_id, serial),
    db
      .prepare(
        `UPDATE account_grants SET refresh_sealed = ?, scope = ?, serial = ?, issued_at = ?, expires_at = ?, sent_serial = NULL, ended = NULL
         WHERE account_id = ? AND serial = ?`,
      )
      .bind(
        given.refreshSealed,
        given.scope,
        token.serial,
        token.issuedAt,
        token.expiresAt,
        account_id,
        serial,
      ),
  ]);
  return (renewed?.meta.changes ?? 0) > 0;
}

/** The token is still the one that was looked at, and nobody ended it. */
export const whenStill = ({ account_id, serial }: Grant): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM account_grants WHERE account_id = ? AND serial = ? AND ended IS NULL)',
  params: [account_id, serial],
});

/** End an account: its owner has to sign in again, and nothing of its secrets is kept. */
export const endGrant = (
  db: D1Database,
  { account_id, serial }: Grant,
  reason: EndReason,
): D1PreparedStatement[] => [
  db
    .prepare(
      `UPDATE accounts SET auth_sealed = '' WHERE id = ?
       AND EXISTS (SELECT 1 FROM account_grants WHERE account_id = ? AND serial = ? AND ended IS NULL)`,
    )
    .bind(account_id, account_id, serial),
  db
    .prepare(
      `UPDATE account_grants SET ended = ?, refresh_sealed = NULL, sent_serial = NULL
       WHERE account_id = ? AND serial = ? AND ended IS NULL`,
    )
    .bind(reason, account_id, serial),
];

/** Note what a server wants of an account beyond what it may. */
export const noteWanted = (db: D1Database, accountId: string, scope: string): D1PreparedStatement =>
  db
    .prepare(
      `UPDATE account_grants SET wanted_scope = ? WHERE account_id = ? AND wanted_scope IS NOT ?`,
    )
    .bind(scope, accountId, scope);

/** Accounts of a server, beside one, at other issuers than the one that it names now. */
export const deleteOfOtherIssuers = (
  db: D1Database,
  serverId: string,
  { account_id, issuer }: Pick<Grant, 'account_id' | 'issuer'>,
): D1PreparedStatement =>
  db
    .prepare(
      `DELETE FROM accounts WHERE server_id = ? AND id <> ?
       AND id IN (SELECT account_id FROM account_grants WHERE issuer <> ?)`,
    )
    .bind(serverId, account_id, issuer);
