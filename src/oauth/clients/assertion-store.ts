/** The `oauth_assertions` table: used assertions that could still be replayed. */
import type { Condition } from '../../audit/audit-store.ts';

const SWEPT = 100;

/** Condition: the assertion was not used yet. */
export const whenUnused = (hash: string): Condition => ({
  sql: 'NOT EXISTS (SELECT 1 FROM oauth_assertions WHERE hash = ?)',
  params: [hash],
});

/** Statements that mark an assertion as used and delete expired ones. The first changes a row only if the assertion is new. */
export const keepAssertion = (
  db: D1Database,
  hash: string,
  expiresAt: number,
  now: number,
): [D1PreparedStatement, D1PreparedStatement] => [
  db
    .prepare('INSERT INTO oauth_assertions (hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING')
    .bind(hash, expiresAt),
  db
    .prepare(
      `DELETE FROM oauth_assertions WHERE hash IN
         (SELECT hash FROM oauth_assertions WHERE expires_at <= ? LIMIT ${SWEPT})`,
    )
    .bind(now),
];

/** Marks an assertion as used. @returns whether this is its first use */
export async function useAssertion(
  db: D1Database,
  hash: string,
  expiresAt: number,
  now: number,
): Promise<boolean> {
  const [used] = await db.batch(keepAssertion(db, hash, expiresAt, now));
  return used?.meta.changes === 1;
}
