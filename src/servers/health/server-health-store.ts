/**
 * The table `server_health`: the last known health of each server. Its monitor writes it at most once per check; lists and metrics read it.
 * Reads return parsed rows; writes return statements.
 */
import { z } from 'zod';
import { ServerStatusSchema } from '../registry/status.ts';
import { HEALTH_STATES } from './next-status.ts';
import type { MeasuredServer, ServerHealth } from './server-health.ts';

const RowSchema = z
  .object({
    server_id: z.string(),
    generation: z.number(),
    state: z.enum(HEALTH_STATES),
    reason: z.string().nullable(),
    checked_at: z.number(),
    response_time_ms: z.number().nullable(),
    error_rate: z.number().nullable(),
    consecutive_failures: z.number(),
    last_good_at: z.number().nullable(),
    calls_total: z.number(),
    errors_total: z.number(),
  })
  .transform((row): ServerHealth => ({
    serverId: row.server_id,
    generation: row.generation,
    state: row.state,
    reason: row.reason,
    checkedAt: row.checked_at,
    responseTimeMs: row.response_time_ms,
    errorRate: row.error_rate,
    consecutiveFailures: row.consecutive_failures,
    lastGoodAt: row.last_good_at,
    callsTotal: row.calls_total,
    errorsTotal: row.errors_total,
  }));

/** Reads a row to test the database. @throws what the database throws */
export async function probeStorage(db: D1Database): Promise<void> {
  await db.prepare('SELECT server_id FROM server_health LIMIT 1').first();
}

/** Lists the names of the applied migrations. @throws what the database throws */
export async function listMigrations(db: D1Database): Promise<string[]> {
  const { results } = await db.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  return results.map(({ name }) => name);
}

/** Reads the health of these servers, in one read. */
export async function listServerHealth(
  db: D1Database,
  serverIds: readonly string[],
): Promise<ServerHealth[]> {
  const { results } = await db
    .prepare('SELECT * FROM server_health WHERE server_id IN (SELECT value FROM json_each(?))')
    .bind(JSON.stringify(serverIds))
    .all();
  return results.map(row => RowSchema.parse(row));
}

/** Reads the health of one server. */
export async function findServerHealth(
  db: D1Database,
  serverId: string,
): Promise<ServerHealth | undefined> {
  const row = await db
    .prepare('SELECT * FROM server_health WHERE server_id = ?')
    .bind(serverId)
    .first();
  return row === null ? undefined : RowSchema.parse(row);
}

const MeasuredSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: ServerStatusSchema,
  server_generation: z.number(),
  circuit_retry_at: z.number().nullable(),
  held_tools: z.number(),
  server_id: z.string().nullable(),
});

/** Lists all servers with their health, in one read. */
export async function listServersWithHealth(db: D1Database): Promise<MeasuredServer[]> {
  const { results } = await db
    .prepare(
      `SELECT servers.id, servers.name, servers.status, servers.generation AS server_generation,
         servers.circuit_retry_at, servers.held_tools, server_health.* FROM servers LEFT JOIN server_health ON server_health.server_id = servers.id
       ORDER BY servers.name`,
    )
    .all();
  return results.map(row => {
    const { server_generation: generation, server_id, ...server } = MeasuredSchema.parse(row);
    const { id, name, status, circuit_retry_at: circuitRetryAt, held_tools: heldTools } = server;
    const health = server_id === null ? undefined : RowSchema.parse(row);
    return { id, name, status, generation, circuitRetryAt, heldTools, health };
  });
}

/** Writes the result of a check; writes nothing if the server is gone or has a new generation. */
export function upsertServerHealth(db: D1Database, health: ServerHealth): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO server_health (server_id, generation, state, reason, checked_at, response_time_ms,
         error_rate, consecutive_failures, last_good_at, calls_total, errors_total)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
       WHERE EXISTS (SELECT 1 FROM servers WHERE id = ?1 AND generation = ?2)
       ON CONFLICT (server_id) DO UPDATE SET generation = excluded.generation,
         state = excluded.state, reason = excluded.reason, checked_at = excluded.checked_at,
         response_time_ms = excluded.response_time_ms, error_rate = excluded.error_rate,
         consecutive_failures = excluded.consecutive_failures,
         last_good_at = excluded.last_good_at, calls_total = excluded.calls_total,
         errors_total = excluded.errors_total`,
    )
    .bind(
      health.serverId,
      health.generation,
      health.state,
      health.reason,
      health.checkedAt,
      health.responseTimeMs,
      health.errorRate,
      health.consecutiveFailures,
      health.lastGoodAt,
      health.callsTotal,
      health.errorsTotal,
    );
}

/** Part of deleting a server. */
export function deleteServerHealth(db: D1Database, serverId: string): D1PreparedStatement {
  return db.prepare('DELETE FROM server_health WHERE server_id = ?').bind(serverId);
}
