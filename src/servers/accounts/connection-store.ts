/** The `account_connections` table: pending sign-ins at issuers. A row stays until it is used or expires. */
import { z } from 'zod';

/** Maximum pending sign-ins of one principal; the oldest are deleted. */
const MAX_PENDING = 20;

export interface StoredConnection {
  state_hash: string;
  principal_id: string;
  server_id: string;
  sealed: string;
  /** Milliseconds since the epoch. */
  expires_at: number;
}

/** Stores a pending sign-in and deletes expired ones. */
export async function keepConnection(
  db: D1Database,
  { state_hash, principal_id, server_id, sealed, expires_at }: StoredConnection,
  now: number,
): Promise<void> {
  await db.batch([
    db
      .prepare(
        `DELETE FROM account_connections WHERE expires_at < ? OR state_hash IN
           (SELECT state_hash FROM account_connections WHERE principal_id = ? ORDER BY expires_at DESC LIMIT -1 OFFSET ?)`,
      )
      .bind(now, principal_id, MAX_PENDING - 1),
    db
      .prepare(
        `INSERT INTO account_connections (state_hash, principal_id, server_id, sealed, expires_at) VALUES (?, ?, ?, ?, ?)`,
      )
      .bind(state_hash, principal_id, server_id, sealed, expires_at),
  ]);
}

const TakenSchema = z.object({ server_id: z.string(), sealed: z.string(), expires_at: z.number() });

/** Deletes and returns a principal's pending sign-in; undefined if it has none with this hash. */
export async function takeConnection(
  db: D1Database,
  stateHash: string,
  principalId: string,
): Promise<z.infer<typeof TakenSchema> | undefined> {
  const found = await db
    .prepare(
      `DELETE FROM account_connections WHERE state_hash = ? AND principal_id = ? RETURNING server_id, sealed, expires_at`,
    )
    .bind(stateHash, principalId)
    .first();
  return found === null ? undefined : TakenSchema.parse(found);
}
