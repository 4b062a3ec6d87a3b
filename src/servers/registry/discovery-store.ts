/**
 * What a server's monitor writes of the `servers` table: what it found, and what it makes of the server. After an act of an administrator
 * in between, a write is void.
 */
import type { Server, Verdict } from './server-schema.ts';
import type { ServerStatus } from './status.ts';

/** What a discovery found. */
export interface Discovery {
  verdict: Verdict;
  catalogHash: string;
  toolCount: number;
}

/** What a server's monitor makes of its status, and why. */
export interface Judged {
  status: ServerStatus;
  lastError: string | null;
  circuitRetryAt: number | null;
}

/** Record a discovery that succeeded; after an act of an administrator meanwhile it is void. */
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

/** Record what a check made of a server; the last catalog stays. */
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

/** Open the circuit of a server. */
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
