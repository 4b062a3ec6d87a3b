/** The `account_connections` table: sign-ins at issuers that somebody left for. Each row is there until it is used, or its time is over. */
import { z } from 'zod';

/** Most of one principal at once; the oldest end. */
const MAX_PENDING = 20;

export interface StoredConnection {
  state_hash: string;
  principal_id: string;
  server_id: string;
  sealed: string;
  /** Milliseconds since the epoch. */
  expires_at: number;
}

/** Keep one; those whose time is over go. */
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

/** Take one of a principal's away and give it; undefined where it has none with this hash. */
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
