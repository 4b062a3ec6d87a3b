/**
 * The `servers` table. Reads return parsed rows; writes return statements, so that a service can
 * put them in one batch.
 */
import { z } from 'zod';
import {
  ServerStatusSchema,
  TransportTypeSchema,
  type Server,
  type ServerStatus,
  type Verdict,
} from './server-schema.ts';

const VerdictSchema = z.object({
  era: z.enum(['legacy', 'modern']),
  protocolVersion: z.string(),
  transport: z.enum(['http', 'sse']),
  sessionful: z.boolean(),
});

const RowSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    transport_type: TransportTypeSchema,
    url: z.string(),
    headers_sealed: z.string().nullable(),
    health_check_url: z.string().nullable(),
    auto_connect: z.number(),
    status: ServerStatusSchema,
    last_error: z.string().nullable(),
    verdict: z.string().nullable(),
    catalog_hash: z.string().nullable(),
    tool_count: z.number(),
    registered_at: z.number(),
    updated_at: z.number(),
  })
  .transform((row): Server => ({
    id: row.id,
    name: row.name,
    description: row.description,
    transportType: row.transport_type,
    url: row.url,
    headersSealed: row.headers_sealed,
    healthCheckUrl: row.health_check_url,
    autoConnect: row.auto_connect === 1,
    status: row.status,
    lastError: row.last_error,
    verdict: row.verdict === null ? null : VerdictSchema.parse(JSON.parse(row.verdict)),
    catalogHash: row.catalog_hash,
    toolCount: row.tool_count,
    registeredAt: row.registered_at,
    updatedAt: row.updated_at,
  }));

/** Rows of {@link selectServers} as records. */
export function parseServers(rows: readonly unknown[]): Server[] {
  return rows.map(row => RowSchema.parse(row));
}

/** All servers in the order of their names. */
export function selectServers(db: D1Database): D1PreparedStatement {
  return db.prepare('SELECT * FROM servers ORDER BY name');
}

/** The number that grows with every change of the registry. */
export function selectRevision(db: D1Database): D1PreparedStatement {
  return db.prepare('SELECT revision FROM registry_revision');
}

/** The row of {@link selectRevision}. */
export function parseRevision(rows: readonly unknown[]): number {
  return z.object({ revision: z.number() }).parse(rows[0]).revision;
}

/** All servers where the registry is no longer at `revision`, else no row. */
export function selectServersSince(db: D1Database, revision: number): D1PreparedStatement {
  return db
    .prepare(
      `SELECT * FROM servers WHERE (SELECT revision FROM registry_revision) <> ? ORDER BY name`,
    )
    .bind(revision);
}

/** One server, or undefined. */
export async function findServer(db: D1Database, id: string): Promise<Server | undefined> {
  const row = await db.prepare('SELECT * FROM servers WHERE id = ?').bind(id).first();
  return row === null ? undefined : RowSchema.parse(row);
}

/** Insert a server; the name's UNIQUE constraint refuses a second one of the same name. */
export function insertServer(db: D1Database, server: Server): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO servers (id, name, description, transport_type, url, headers_sealed,
         health_check_url, auto_connect, status, registered_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO NOTHING`,
    )
    .bind(
      server.id,
      server.name,
      server.description,
      server.transportType,
      server.url,
      server.headersSealed,
      server.healthCheckUrl,
      server.autoConnect ? 1 : 0,
      server.status,
      server.registeredAt,
      server.updatedAt,
    );
}

export function deleteServer(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM servers WHERE id = ?').bind(id);
}

/** What a discovery found. Written by the server's monitor alone. */
export interface Discovery {
  verdict: Verdict;
  catalogHash: string;
  toolCount: number;
}

/** Record a discovery that succeeded; a server disconnected meanwhile stays so. */
export function updateDiscovered(
  db: D1Database,
  id: string,
  found: Discovery,
  warning: string | null,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE servers SET status = 'CONNECTED', last_error = ?, verdict = ?, catalog_hash = ?,
         tool_count = ?, updated_at = ? WHERE id = ? AND status <> 'DISCONNECTED'`,
    )
    .bind(warning, JSON.stringify(found.verdict), found.catalogHash, found.toolCount, now, id);
}

/** Record a discovery that failed; the last catalog stays. */
export function updateFailed(
  db: D1Database,
  id: string,
  status: ServerStatus,
  error: string,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE servers SET status = ?, last_error = ?, updated_at = ?
       WHERE id = ? AND status <> 'DISCONNECTED'`,
    )
    .bind(status, error, now, id);
}
