/**
 * The `open_streams` table: names of the ClientSession objects that want to be notified of changes. Only the object itself writes its row.
 * Writes return statements.
 */
import { z } from 'zod';

export function upsertOpenStream(db: D1Database, owner: string, now: number): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO open_streams (owner, opened_at) VALUES (?, ?)
       ON CONFLICT (owner) DO UPDATE SET opened_at = excluded.opened_at`,
    )
    .bind(owner, now);
}

export function deleteOpenStream(db: D1Database, owner: string): D1PreparedStatement {
  return db.prepare('DELETE FROM open_streams WHERE owner = ?').bind(owner);
}

/** Whether any object wants to be notified. */
export async function hasStreamOwners(db: D1Database): Promise<boolean> {
  return (await db.prepare('SELECT 1 FROM open_streams LIMIT 1').first()) !== null;
}

/** Returns the names of all objects that want to be notified. */
export async function listStreamOwners(db: D1Database): Promise<string[]> {
  const { results } = await db.prepare('SELECT owner FROM open_streams ORDER BY opened_at').all();
  return z
    .array(z.object({ owner: z.string() }))
    .parse(results)
    .map(({ owner }) => owner);
}
