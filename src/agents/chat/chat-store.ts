/**
 * The `chats` table. Reads return parsed rows; writes return statements. A run claims its chat at the revision that it read. Its later
 * writes name that claim, so that a run which has lost it writes nothing.
 */
import { z } from 'zod';

export interface ChatRow {
  id: string;
  principalId: string;
  /** The state, sealed. */
  sealed: string;
  status: 'running' | 'waiting' | 'idle';
  /** Counts claims and writes. */
  revision: number;
  /** End of the lease of its run. */
  leasedUntil: number;
  expiresAt: number;
}

const RowSchema = z
  .object({
    id: z.string(),
    principal_id: z.string(),
    sealed: z.string(),
    status: z.enum(['running', 'waiting', 'idle']),
    revision: z.number(),
    leased_until: z.number(),
    expires_at: z.number(),
  })
  .transform((row): ChatRow => ({
    id: row.id,
    principalId: row.principal_id,
    sealed: row.sealed,
    status: row.status,
    revision: row.revision,
    leasedUntil: row.leased_until,
    expiresAt: row.expires_at,
  }));

/** Most rows that are pruned along with a new one. */
const MAX_PRUNED = 100;

/** Returns a principal's chat, unless it has expired. */
export async function findChat(
  db: D1Database,
  principalId: string,
  id: string,
  now: number,
): Promise<ChatRow | undefined> {
  const row = await db
    .prepare('SELECT * FROM chats WHERE id = ? AND principal_id = ? AND expires_at > ?')
    .bind(id, principalId, now)
    .first();
  return row === null ? undefined : RowSchema.parse(row);
}

/** What a claim writes. */
export interface Claimed {
  claim: string;
  sealed: string;
  now: number;
  leasedUntil: number;
  expiresAt: number;
}

/** Condition: fewer than the maximum of the principal's chats run. */
const FEW_RUN = `(SELECT count(*) FROM chats WHERE principal_id = ?1 AND status = 'running' AND leased_until > ?2) < ?3`;

/** Inserts a claimed chat; no row where too many of the principal's chats run. */
export function insertChat(
  db: D1Database,
  id: string,
  principalId: string,
  { claim, sealed, now, leasedUntil, expiresAt }: Claimed,
  maxRunning: number,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO chats (id, principal_id, sealed, status, revision, claim, leased_until, stop_requested, created_at, updated_at, expires_at)
       SELECT ?4, ?1, ?5, 'running', 1, ?6, ?7, 0, ?2, ?2, ?8 WHERE ${FEW_RUN}`,
    )
    .bind(principalId, now, maxRunning, id, sealed, claim, leasedUntil, expiresAt);
}

/** Deletes expired chats, a bounded number at a time, and the principal's oldest resting chats beyond a number. */
export function pruneChats(
  db: D1Database,
  principalId: string,
  now: number,
  maxKept: number,
): D1PreparedStatement[] {
  return [
    db
      .prepare(
        `DELETE FROM chats WHERE (status <> 'running' OR leased_until <= ?1)
           AND id IN (SELECT id FROM chats WHERE expires_at <= ?1 LIMIT ?2)`,
      )
      .bind(now, MAX_PRUNED),
    db
      .prepare(
        `DELETE FROM chats WHERE (status <> 'running' OR leased_until <= ?1) AND id IN (
           SELECT id FROM chats WHERE principal_id = ?2 ORDER BY updated_at DESC, id LIMIT -1 OFFSET ?3)`,
      )
      .bind(now, principalId, maxKept),
  ];
}

/** Claims a chat that does not run, at the revision that was read. */
export function claimChat(
  db: D1Database,
  { id, principalId, revision }: ChatRow,
  { claim, sealed, now, leasedUntil, expiresAt }: Claimed,
  maxRunning: number,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE chats SET claim = ?4, sealed = ?5, leased_until = ?6, expires_at = ?7, updated_at = ?2, status = 'running',
         stop_requested = 0, revision = revision + 1
       WHERE id = ?8 AND principal_id = ?1 AND revision = ?9 AND (status <> 'running' OR leased_until <= ?2) AND ${FEW_RUN}`,
    )
    .bind(principalId, now, maxRunning, claim, sealed, leasedUntil, expiresAt, id, revision);
}

/** Writes the state of a chat under the claim of its run. */
export function writeChat(
  db: D1Database,
  id: string,
  status: ChatRow['status'],
  { claim, sealed, now, leasedUntil, expiresAt }: Claimed,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE chats SET sealed = ?, status = ?, leased_until = ?, updated_at = ?, expires_at = ?, revision = revision + 1
       WHERE id = ? AND claim = ? AND status = 'running'`,
    )
    .bind(sealed, status, leasedUntil, now, expiresAt, id, claim);
}

/** Renews the lease of a run. @returns whether the run is to stop; undefined where the claim is lost */
export async function renewLease(
  db: D1Database,
  id: string,
  claim: string,
  leasedUntil: number,
): Promise<{ isStopped: boolean } | undefined> {
  const row = await db
    .prepare(
      `UPDATE chats SET leased_until = ? WHERE id = ? AND claim = ? AND status = 'running' RETURNING stop_requested`,
    )
    .bind(leasedUntil, id, claim)
    .first<{ stop_requested: number }>();
  return row === null ? undefined : { isStopped: row.stop_requested === 1 };
}

/** Asks the chat's run to stop. */
export function requestStop(db: D1Database, principalId: string, id: string): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE chats SET stop_requested = 1 WHERE id = ? AND principal_id = ? AND status = 'running'`,
    )
    .bind(id, principalId);
}

export function deleteChat(db: D1Database, principalId: string, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM chats WHERE id = ? AND principal_id = ?').bind(id, principalId);
}
