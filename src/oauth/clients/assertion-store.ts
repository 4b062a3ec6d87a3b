/** The `oauth_assertions` table: those that were used and could be used again. */
import type { Condition } from '../../audit/audit-store.ts';

const SWEPT = 100;

/** Nobody used it. */
export const whenUnused = (hash: string): Condition => ({
  sql: 'NOT EXISTS (SELECT 1 FROM oauth_assertions WHERE hash = ?)',
  params: [hash],
});

/** Note that an assertion is used, and forget what is over. The first changes a row where it is the first time. */
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

/** Note that an assertion is used. @returns whether it is the first time */
export async function useAssertion(
  db: D1Database,
  hash: string,
  expiresAt: number,
  now: number,
): Promise<boolean> {
  const [used] = await db.batch(keepAssertion(db, hash, expiresAt, now));
  return used?.meta.changes === 1;
}
