/** The `invitations` table. Only the HMAC of a code is stored. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { RecordTable } from '../records/record-store.ts';
import { InvitationSchema, type Invitation } from './invitation-schema.ts';

/** Maximum number of open invitations. */
export const MAX_INVITATIONS = 1_000;

export const INVITATIONS = {
  name: 'invitations',
  source: `(SELECT i.*, p.name AS principal_name FROM invitations AS i JOIN principals AS p ON p.id = i.principal_id
    WHERE i.expires_at > unixepoch('subsec') * 1000)`,
  row: InvitationSchema,
  computed: ['principal_name'],
  /** Its principal exists, and the limit is not reached. */
  whenPossible: ({ principal_id: principalId, created_at: now }) => ({
    sql: `EXISTS (SELECT 1 FROM principals WHERE id = ?)
      AND (SELECT count(*) FROM invitations WHERE expires_at > ?) < ${MAX_INVITATIONS}`,
    params: [principalId, now],
  }),
} as const satisfies RecordTable<Invitation>;

const OpenSchema = z.object({ id: z.string(), principal_id: z.string() });

/**
 * Finds the open invitation whose code has one of these HMACs.
 * @param now milliseconds since the epoch
 */
export async function findOpenInvitation(
  db: D1Database,
  hmacs: readonly string[],
  now: number,
): Promise<z.infer<typeof OpenSchema> | undefined> {
  const found = await db
    .prepare(
      `SELECT id, principal_id FROM invitations WHERE hmac IN (${hmacs.map(() => '?').join(', ')}) AND expires_at > ?`,
    )
    .bind(...hmacs, now)
    .first();
  return found === null ? undefined : OpenSchema.parse(found);
}

/** Deletes expired invitations. */
export const sweepInvitations = (db: D1Database, now: number): D1PreparedStatement =>
  db.prepare('DELETE FROM invitations WHERE expires_at <= ?').bind(now);
