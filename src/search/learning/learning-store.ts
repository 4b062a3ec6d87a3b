/** The table `learned_uses`: which tools each principal called after which words. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import { parseName } from '../../servers/approvals/approval-store.ts';
import { SETUP_TOKEN } from '../../shared/identity/principal.ts';
import type { LearnedUse, NewUse } from './uses.ts';

/** Most rows kept, in total and per principal; those used longest ago are deleted first. */
const MAX_ROWS = 20_000;
const MAX_OWN_ROWS = 1_000;
/** A row that was not used again is deleted after so many days: six half-lives. */
export const KEPT_DAYS = 84;

const RowSchema = z.object({
  server_id: z.string(),
  name: z.string(),
  catalog_hash: z.string().nullable(),
  word: z.string(),
  principal_id: z.string(),
  day: z.number(),
});

/** Lists the uses that are not expired. */
export async function listUses(db: D1Database, today: number): Promise<LearnedUse[]> {
  const { results } = await db
    .prepare(
      `SELECT pins.server_id, pins.name, servers.catalog_hash, word, principal_id, day
       FROM learned_uses JOIN pins ON pins.id = approval_id JOIN servers ON servers.id = pins.server_id
       WHERE day > ? LIMIT ${MAX_ROWS}`,
    )
    .bind(today - KEPT_DAYS)
    .all();
  return results.map(row => {
    const { server_id, name, catalog_hash, word, principal_id, day } = RowSchema.parse(row);
    const tool = parseName(name);
    return {
      serverId: server_id,
      tool,
      catalogHash: catalog_hash,
      word,
      principalId: principal_id,
      day,
    };
  });
}

/**
 * Adds uses and deletes those beyond the bounds, in one batch. A use is skipped unless its definition is approved as it was called and its
 * principal exists.
 */
export function addUses(
  db: D1Database,
  uses: readonly NewUse[],
  today: number,
): D1PreparedStatement[] {
  const rows = uses.map(use => [
    use.approvalId,
    use.fingerprint,
    use.word,
    use.principalId,
    use.day,
  ]);
  const principals = [...new Set(uses.map(({ principalId }) => principalId))];
  return [
    db
      .prepare(
        `INSERT INTO learned_uses (approval_id, word, principal_id, day)
         SELECT pins.id, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?1)
           CROSS JOIN pins ON pins.id = value ->> 0 AND state = 'approved' AND approved_fingerprint = value ->> 1
         WHERE value ->> 3 = ?2 OR EXISTS (SELECT 1 FROM principals WHERE principals.id = value ->> 3)
         ON CONFLICT DO UPDATE SET day = excluded.day WHERE excluded.day > day`,
      )
      .bind(JSON.stringify(rows), SETUP_TOKEN.principalId),
    db.prepare('DELETE FROM learned_uses WHERE day <= ?').bind(today - KEPT_DAYS),
    db
      .prepare(
        `DELETE FROM learned_uses WHERE rowid IN (SELECT place FROM (
           SELECT rowid AS place, row_number() OVER (PARTITION BY principal_id ORDER BY day DESC, rowid DESC) AS number
           FROM learned_uses WHERE principal_id IN (SELECT value FROM json_each(?)))
         WHERE number > ${MAX_OWN_ROWS})`,
      )
      .bind(JSON.stringify(principals)),
    db.prepare(
      `DELETE FROM learned_uses WHERE rowid IN
         (SELECT rowid FROM learned_uses ORDER BY day DESC, rowid DESC LIMIT -1 OFFSET ${MAX_ROWS})`,
    ),
  ];
}

/** Deletes all learned uses. */
export const forgetUses = (db: D1Database): D1PreparedStatement =>
  db.prepare('DELETE FROM learned_uses');
