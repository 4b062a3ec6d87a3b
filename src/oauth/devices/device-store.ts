/**
 * The `oauth_devices` table: programs that wait for a person's decision, until they are allowed (the row is deleted and a grant created),
 * refused (the row says so) or expired. And `oauth_device_tries`. Reads return parsed rows; writes return statements.
 */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { jsonOf } from '../../records/record-schema.ts';
import { ScopeSchema } from '../../shared/identity/principal.ts';

/** Lifetime of a code, in milliseconds. */
export const DEVICE_MS = 600_000;
/** Minimum time between two polls that a program is told to keep, in milliseconds; polls may come a second earlier. */
export const INTERVAL_MS = 5_000;
const TOLERANCE_MS = 1_000;
/** Maximum number of waiting programs, per client and in all. Beyond it the oldest are deleted. */
export const MAX_OF_CLIENT = 20;
export const MAX_WAITING = 1_000;
/** Maximum number of codes that one principal may try within a time in milliseconds. */
export const MAX_TRIES = 10;
const TRIES_MS = 600_000;

/** What a program asks for; not yet tied to a person. */
export const DeviceRequestSchema = z.object({
  clientId: z.string(),
  audience: z.string(),
  scopes: z.array(ScopeSchema),
});
export type DeviceRequest = z.infer<typeof DeviceRequestSchema>;

const RowSchema = z
  .object({
    hmac: z.string(),
    client_id: z.string(),
    audience: z.string(),
    scopes: jsonOf(z.array(ScopeSchema)),
    refused: z.number(),
    expires_at: z.number(),
  })
  .transform(row => ({
    hmac: row.hmac,
    clientId: row.client_id,
    audience: row.audience,
    scopes: row.scopes,
    isRefused: row.refused !== 0,
    expiresAt: row.expires_at,
  }));
/** A waiting program; times in milliseconds since the epoch. */
export type WaitingDevice = z.infer<typeof RowSchema>;

/** Columns of a parsed row. */
const COLUMNS = 'hmac, client_id, audience, scopes, refused, expires_at';
const marks = (items: readonly unknown[]) => items.map(() => '?').join(', ');

/** Stores a waiting program, and deletes expired ones and those beyond the limits. */
export function insertDevice(
  db: D1Database,
  { hmac, userHmac }: { hmac: string; userHmac: string },
  { clientId, audience, scopes }: DeviceRequest,
  now: number,
): D1PreparedStatement[] {
  return [
    db.prepare('DELETE FROM oauth_devices WHERE expires_at <= ?').bind(now),
    db
      .prepare(
        `INSERT INTO oauth_devices (hmac, user_hmac, client_id, audience, scopes, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(hmac, userHmac, clientId, audience, JSON.stringify(scopes), now, now + DEVICE_MS),
    db
      .prepare(
        `DELETE FROM oauth_devices WHERE hmac IN (SELECT hmac FROM oauth_devices WHERE client_id = ?
           ORDER BY created_at DESC, hmac LIMIT -1 OFFSET ${MAX_OF_CLIENT})`,
      )
      .bind(clientId),
    db.prepare(
      `DELETE FROM oauth_devices WHERE hmac IN (SELECT hmac FROM oauth_devices
         ORDER BY created_at DESC, hmac LIMIT -1 OFFSET ${MAX_WAITING})`,
    ),
  ];
}

/**
 * Records a poll with a device code. Returns the program, and whether it polled too soon; a poll that is too soon writes nothing.
 * @param hmacs the HMACs the device code may be stored as
 */
export async function pollDevice(
  db: D1Database,
  hmacs: readonly string[],
  clientId: string,
  now: number,
): Promise<{ device: WaitingDevice; isTooSoon: boolean } | undefined> {
  const [polled, found] = await db.batch([
    db
      .prepare(
        `UPDATE oauth_devices SET polled_at = ? WHERE hmac IN (${marks(hmacs)}) AND client_id = ?
           AND coalesce(polled_at, 0) <= ?`,
      )
      .bind(now, ...hmacs, clientId, now - INTERVAL_MS + TOLERANCE_MS),
    db
      .prepare(`SELECT ${COLUMNS} FROM oauth_devices WHERE hmac IN (${marks(hmacs)})`)
      .bind(...hmacs),
  ]);
  const row = found?.results[0];
  if (row === undefined) return undefined;
  return { device: RowSchema.parse(row), isTooSoon: polled?.meta.changes === 0 };
}

/** Finds the program that waits with a user code. @param userHmacs the HMACs the user code may be stored as */
export async function findWaiting(
  db: D1Database,
  userHmacs: readonly string[],
  now: number,
): Promise<WaitingDevice | undefined> {
  const row = await db
    .prepare(
      `SELECT ${COLUMNS} FROM oauth_devices WHERE user_hmac IN (${marks(userHmacs)}) AND refused = 0 AND expires_at > ?`,
    )
    .bind(...userHmacs, now)
    .first();
  return row === null ? undefined : RowSchema.parse(row);
}

/** Condition: the program still waits, and nobody has decided. */
export const whenWaiting = (hmac: string, now: number): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM oauth_devices WHERE hmac = ? AND refused = 0 AND expires_at > ?)',
  params: [hmac, now],
});

/** Deletes a program that was allowed; its grant replaces the row. */
export const endDevice = (db: D1Database, hmac: string, grantId: string): D1PreparedStatement =>
  db
    .prepare(
      'DELETE FROM oauth_devices WHERE hmac = ? AND EXISTS (SELECT 1 FROM oauth_grants WHERE id = ?)',
    )
    .bind(hmac, grantId);

/** Marks a program as refused; it learns that with its next poll. */
export const refuseDevice = (db: D1Database, hmac: string): D1PreparedStatement =>
  db.prepare('UPDATE oauth_devices SET refused = 1 WHERE hmac = ?').bind(hmac);

/** Counts a person's try of a code. @returns whether the person may try it */
export async function countTry(db: D1Database, principalId: string, now: number): Promise<boolean> {
  const tries = await db
    .prepare(
      `INSERT INTO oauth_device_tries (principal_id, tries, since) VALUES (?1, 1, ?2)
       ON CONFLICT (principal_id) DO UPDATE SET
         tries = CASE WHEN since <= ?2 - ?3 THEN 1 ELSE min(tries, ?4) + 1 END,
         since = CASE WHEN since <= ?2 - ?3 THEN ?2 ELSE since END
       RETURNING tries`,
    )
    .bind(principalId, now, TRIES_MS, MAX_TRIES)
    .first<number>('tries');
  return (tries ?? MAX_TRIES + 1) <= MAX_TRIES;
}
