/**
 * The writes of a server's monitor to the `servers` table: discoveries, status, circuit. Each write applies only to the generation that the
 * monitor read, so it does nothing after an administrator has connected, disconnected or moved the server.
 */
import type { Server, ServerProtocol } from './server-schema.ts';
import type { ServerStatus } from './status.ts';

/** Result of a discovery. */
export interface Discovery {
  verdict: ServerProtocol;
  catalogHash: string;
  toolCount: number;
}

/** The status that a server's monitor derived, and why. */
export interface Judged {
  status: ServerStatus;
  lastError: string | null;
  circuitRetryAt: number | null;
}

/** Records a successful discovery. */
export function updateDiscovered(
  db: D1Database,
  { id, generation }: Server,
  found: Discovery,
  { status, lastError, circuitRetryAt }: Judged,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE servers SET status = ?, last_error = ?, circuit_retry_at = ?, verdict = ?, catalog_hash = ?,
         tool_count = ?, updated_at = ? WHERE id = ? AND generation = ? AND status <> 'DISCONNECTED'`,
    )
    .bind(
      status,
      lastError,
      circuitRetryAt,
      JSON.stringify(found.verdict),
      found.catalogHash,
      found.toolCount,
      now,
      id,
      generation,
    );
}

/** Records the status after a check; the last catalog stays. */
export function updateJudged(
  db: D1Database,
  { id, generation }: Server,
  { status, lastError, circuitRetryAt }: Judged,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE servers SET status = ?, last_error = ?, circuit_retry_at = ?, updated_at = ?
       WHERE id = ? AND generation = ? AND status <> 'DISCONNECTED'`,
    )
    .bind(status, lastError, circuitRetryAt, now, id, generation);
}

/** Names another catalog, if the row still names the one that the monitor read. */
export function updateCatalog(
  db: D1Database,
  { id, generation, catalogHash: before }: Pick<Server, 'id' | 'generation' | 'catalogHash'>,
  catalogHash: string,
  toolCount: number,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE servers SET catalog_hash = ?, tool_count = ?, updated_at = ?
       WHERE id = ? AND generation = ? AND catalog_hash IS ? AND status <> 'DISCONNECTED'`,
    )
    .bind(catalogHash, toolCount, now, id, generation, before);
}

/** Sets when an open circuit is tried next; null closes the circuit. */
export function updateCircuit(
  db: D1Database,
  { id, generation }: Pick<Server, 'id' | 'generation'>,
  circuitRetryAt: number | null,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE servers SET circuit_retry_at = ?, updated_at = ?
       WHERE id = ? AND generation = ? AND status <> 'DISCONNECTED'`,
    )
    .bind(circuitRetryAt, now, id, generation);
}
