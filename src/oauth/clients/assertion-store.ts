/** The `oauth_assertions` table: those that were used and could be used again. */

const SWEPT = 100;

/** Note that an assertion is used. @returns whether it is the first time */
export async function useAssertion(
  db: D1Database,
  hash: string,
  expiresAt: number,
  now: number,
): Promise<boolean> {
  const [used] = await db.batch([
    db
      .prepare(
        'INSERT INTO oauth_assertions (hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
      )
      .bind(hash, expiresAt),
    db
      .prepare(
        `DELETE FROM oauth_assertions WHERE hash IN
           (SELECT hash FROM oauth_assertions WHERE expires_at <= ? LIMIT ${SWEPT})`,
      )
      .bind(now),
  ]);
  return used?.meta.changes === 1;
}
