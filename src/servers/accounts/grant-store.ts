/**
 * The `account_grants` table. Reads return parsed rows; writes return statements, which change nothing if the token has been replaced
 * meanwhile.
 */
import type { Condition } from '../../audit/audit-store.ts';
import type { FreshToken } from '../../shared/identity/account.ts';
import { onEitherSchema } from '../../shared/util/either-schema.ts';
import { GrantSchema, type EndReason, type Grant } from './grant-schema.ts';

/** Reads the grant of a connected account; undefined if its token was pasted or the account is gone. */
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

/** Replaces the account's former grant, after the batch has written the account. @param when it was written */
export function writeGrant(db: D1Database, grant: NewGrant, when: Condition): D1PreparedStatement {
  const columns = Object.keys(grant);
  return db
    .prepare(
      `INSERT OR REPLACE INTO account_grants (${columns.join(', ')})
       SELECT ${columns.map(() => '?').join(', ')} WHERE ${when.sql}`,
    )
    .bind(...Object.values(grant), ...when.params);
}

/** Deletes the grant of an account that now has a pasted token. @param when the account was written */
export const deleteGrant = (
  db: D1Database,
  accountId: string,
  when: Condition,
): D1PreparedStatement =>
  db
    .prepare(`DELETE FROM account_grants WHERE account_id = ? AND ${when.sql}`)
    .bind(accountId, ...when.params);

/** Notes that a renewal request is about to be sent. @returns whether the token is still this one */
export async function noteSent(db: D1Database, { account_id, serial }: Grant): Promise<boolean> {
  const { meta } = await db
    .prepare('UPDATE account_grants SET sent_serial = serial WHERE account_id = ? AND serial = ?')
    .bind(account_id, serial)
    .run();
  return meta.changes > 0;
}

/** Stores the result of a renewal in both tables or in neither. @returns whether the token was still the former one */
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

/** Condition: the token is still the one that was read, and the account has not ended. */
export const whenStill = ({ account_id, serial }: Grant): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM account_grants WHERE account_id = ? AND serial = ? AND ended IS NULL)',
  params: [account_id, serial],
});

/** Ends an account and erases its secrets: its owner has to sign in again. */
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

/** Notes the scope that a server wants beyond what the account has. */
export const noteWanted = (db: D1Database, accountId: string, scope: string): D1PreparedStatement =>
  db
    .prepare(
      `UPDATE account_grants SET wanted_scope = ? WHERE account_id = ? AND wanted_scope IS NOT ?`,
    )
    .bind(scope, accountId, scope);

/**
 * Deletes the other accounts of a server at issuers that the server no longer names.
 * @param issuers that it names
 * @param when condition of the whole change
 */
export const deleteOfOtherIssuers = (
  db: D1Database,
  serverId: string,
  accountId: string,
  issuers: readonly string[],
  when: Condition,
): D1PreparedStatement =>
  db
    .prepare(
      `DELETE FROM accounts WHERE server_id = ? AND id <> ? AND id IN (SELECT account_id FROM account_grants
         WHERE issuer NOT IN (SELECT value FROM json_each(?))) AND ${when.sql}`,
    )
    .bind(serverId, accountId, JSON.stringify(issuers), ...when.params);
