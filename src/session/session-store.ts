/** The `sessions` table: which legacy client sessions are alive. Writes return statements. */
import { z } from 'zod';

export interface Session {
  id: string;
  principalId: string;
  /** Path of the endpoint the session was opened on; it is valid nowhere else. */
  endpoint: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  lastSeenAt: number;
}

const RowSchema = z
  .object({
    id: z.string(),
    principal_id: z.string(),
    endpoint: z.string(),
    created_at: z.number(),
    last_seen_at: z.number(),
  })
  .transform((row): Session => ({
    id: row.id,
    principalId: row.principal_id,
    endpoint: row.endpoint,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
  }));

export function selectSession(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('SELECT * FROM sessions WHERE id = ?').bind(id);
}

/** The first row as a session, or undefined. */
export function parseSession(rows: readonly unknown[]): Session | undefined {
  return rows.length === 0 ? undefined : RowSchema.parse(rows[0]);
}

export function insertSession(db: D1Database, session: Session): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO sessions (id, principal_id, endpoint, created_at, last_seen_at)
       VALUES (?, ?, ?, ?, ?)`,
    )
    .bind(session.id, session.principalId, session.endpoint, session.createdAt, session.lastSeenAt);
}

export function touchSession(db: D1Database, id: string, now: number): D1PreparedStatement {
  return db.prepare('UPDATE sessions SET last_seen_at = ? WHERE id = ?').bind(now, id);
}

export function deleteSession(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM sessions WHERE id = ?').bind(id);
}

/** Forget sessions nobody has used since `before`, a bounded number at a time. */
export function deleteIdleSessions(db: D1Database, before: number): D1PreparedStatement {
  return db
    .prepare(
      `DELETE FROM sessions WHERE id IN
         (SELECT id FROM sessions WHERE last_seen_at < ? ORDER BY last_seen_at LIMIT 500)`,
    )
    .bind(before);
}
