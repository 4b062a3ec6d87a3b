/** The `sessions` table: which legacy client sessions are alive. Writes return statements. */
import { z } from 'zod';
import { LOG_LEVELS, type JsonObject, type LogLevel } from '../../shared/protocol.ts';

export interface Session {
  id: string;
  principalId: string;
  /** Path of the endpoint that the session was opened on; it is valid nowhere else. */
  endpoint: string;
  /** The client capabilities that concern server requests. */
  capabilities: JsonObject;
  /** Milliseconds since the epoch. */
  createdAt: number;
  lastSeenAt: number;
  /** The level that the client set with `logging/setLevel`, if it did. */
  logLevel?: LogLevel;
  /** Sealed copies of its sessions at upstreams: JSON text by server. */
  copies?: string;
}

const RowSchema = z
  .object({
    id: z.string(),
    principal_id: z.string(),
    endpoint: z.string(),
    capabilities: z.string(),
    created_at: z.number(),
    last_seen_at: z.number(),
    log_level: z.enum(LOG_LEVELS).nullable(),
    upstream_sessions: z.string().nullish(),
  })
  .transform((row): Session => ({
    id: row.id,
    principalId: row.principal_id,
    endpoint: row.endpoint,
    capabilities: JSON.parse(row.capabilities) as JsonObject,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    ...(row.log_level === null ? {} : { logLevel: row.log_level }),
    ...(row.upstream_sessions && { copies: row.upstream_sessions }),
  }));

export function selectSessions(db: D1Database, ids: readonly string[]): D1PreparedStatement {
  return db
    .prepare('SELECT * FROM sessions WHERE id IN (SELECT value FROM json_each(?))')
    .bind(JSON.stringify(ids));
}

export function parseSessions(rows: readonly unknown[]): Session[] {
  return rows.map(row => RowSchema.parse(row));
}

export function insertSession(db: D1Database, session: Session): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO sessions (id, principal_id, endpoint, capabilities, created_at, last_seen_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    )
    .bind(
      session.id,
      session.principalId,
      session.endpoint,
      JSON.stringify(session.capabilities),
      session.createdAt,
      session.lastSeenAt,
    );
}

export function touchSession(db: D1Database, id: string, now: number): D1PreparedStatement {
  return db.prepare('UPDATE sessions SET last_seen_at = ? WHERE id = ?').bind(now, id);
}

export function updateLogLevel(db: D1Database, id: string, level: LogLevel): D1PreparedStatement {
  return db.prepare('UPDATE sessions SET log_level = ? WHERE id = ?').bind(level, id);
}

/** Most characters of a session's copies. */
const MAX_COPIES = 20_000;

/** Stores a copy of a session at an upstream, where there is room. */
export function updateCopy(
  db: D1Database,
  id: string,
  serverId: string,
  sealed: string,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE sessions SET upstream_sessions = json_set(coalesce(upstream_sessions, '{}'), ?, ?)
       WHERE id = ? AND length(coalesce(upstream_sessions, '')) < ${MAX_COPIES}`,
    )
    .bind(`$."${serverId}"`, sealed, id);
}

export function deleteSession(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM sessions WHERE id = ?').bind(id);
}

/** Most surplus sessions that are ended at once. */
const SURPLUS = 20;

/** Ends a principal's sessions beyond this number, least recently used first; returns their ids. */
export function deleteSurplusSessions(
  db: D1Database,
  principalId: string,
  most: number,
): D1PreparedStatement {
  return db
    .prepare(
      `DELETE FROM sessions WHERE id IN
         (SELECT id FROM sessions WHERE principal_id = ?
          ORDER BY last_seen_at DESC, rowid DESC LIMIT ${SURPLUS} OFFSET ?)
       RETURNING id`,
    )
    .bind(principalId, most);
}

/** Returns the ids of the ended sessions. */
export function parseEnded(rows: readonly unknown[]): string[] {
  return z
    .array(z.object({ id: z.string() }))
    .parse(rows)
    .map(({ id }) => id);
}

/** Deletes sessions unused since `before`, a bounded number at a time. */
export function deleteIdleSessions(db: D1Database, before: number): D1PreparedStatement {
  return db
    .prepare(
      `DELETE FROM sessions WHERE id IN
         (SELECT id FROM sessions WHERE last_seen_at < ? ORDER BY last_seen_at LIMIT 500)`,
    )
    .bind(before);
}
