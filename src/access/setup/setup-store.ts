/** The `setup_codes` table. Reads return parsed rows; writes return statements. */
import type { Condition } from '../../audit/audit-store.ts';

/** Condition: a code with this HMAC exists and has not expired. */
export function whenSetupCode(hmac: string, now: number): Condition {
  return {
    sql: 'EXISTS (SELECT 1 FROM setup_codes WHERE hmac = ? AND expires_at > ?)',
    params: [hmac, now],
  };
}

/** Whether a code with this HMAC can be redeemed. */
export async function isSetupCode(db: D1Database, hmac: string, now: number): Promise<boolean> {
  const { sql, params } = whenSetupCode(hmac, now);
  const row = await db
    .prepare(`SELECT ${sql} AS there`)
    .bind(...params)
    .first<{ there: number }>();
  return row?.there === 1;
}

/** Inserts the first administrator, where the code can still be redeemed. */
export function insertAdministrator(
  db: D1Database,
  { id, name, createdAt }: { id: string; name: string; createdAt: number },
  hmac: string,
): D1PreparedStatement {
  const { sql, params } = whenSetupCode(hmac, createdAt);
  return db
    .prepare(
      `INSERT INTO principals (id, name, groups, scopes, created_at) SELECT ?, ?, '[]', NULL, ? WHERE ${sql}`,
    )
    .bind(id, name, createdAt, ...params);
}

/** Deletes all codes once one is redeemed. */
export function deleteSetupCodes(db: D1Database, principalId: string): D1PreparedStatement {
  return db
    .prepare('DELETE FROM setup_codes WHERE EXISTS (SELECT 1 FROM principals WHERE id = ?)')
    .bind(principalId);
}
