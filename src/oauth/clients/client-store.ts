/** The `oauth_clients` table. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import { jsonOf } from '../../records/record-schema.ts';
import type { ReadTable } from '../../records/record-store.ts';
import { AuthMethodSchema } from './client.ts';
import type { ShownClient } from './client-schema.ts';
import type { ClientWithKeys } from './client-document.ts';

const RowSchema = z
  .object({
    id: z.string(),
    kind: z.enum(['document', 'registered', 'manual']),
    name: z.string(),
    redirect_uris: jsonOf(z.array(z.string())),
    auth_methods: jsonOf(z.array(AuthMethodSchema)),
    secret_hmac: z.string().nullable(),
    key_id: z.string().nullable(),
    jwks_uri: z.string().nullable(),
    jwks: z.string().nullable(),
    created_at: z.number(),
    fresh_until: z.number().nullable(),
    last_used_at: z.number().nullable(),
  })
  .transform(row => ({
    id: row.id,
    kind: row.kind,
    name: row.name,
    redirectUris: row.redirect_uris,
    authMethods: row.auth_methods,
    secretHmac: row.secret_hmac,
    keyId: row.key_id,
    jwksUri: row.jwks_uri,
    jwks: row.jwks,
    createdAt: row.created_at,
    freshUntil: row.fresh_until,
    lastUsedAt: row.last_used_at,
  }));

/** A stored client; times in milliseconds since the epoch. */
export interface StoredClient extends ClientWithKeys {
  secretHmac: string | null;
  keyId: string | null;
  createdAt: number;
  freshUntil: number | null;
}

/** The table as administrators read it. */
export const CLIENTS: ReadTable<ShownClient> = { name: 'oauth_clients', row: RowSchema };

/** Minimum time between two writes of a client's last use, in milliseconds. */
const TOUCH_MS = 300_000;
const DAY_MS = 86_400_000;
/** Clients without a grant are deleted after this time without use; `never` is for those that were never used. */
const UNUSED_MS = { document: 30 * DAY_MS, registered: 90 * DAY_MS, never: DAY_MS };
/** Maximum number of rows that one sweep deletes. */
const SWEPT = 100;
/** Maximum number of self-registered clients that were never used; beyond it the oldest are deleted. */
export const MAX_UNUSED = 1_000;

export async function findClient(db: D1Database, id: string): Promise<StoredClient | undefined> {
  const row = await db.prepare('SELECT * FROM oauth_clients WHERE id = ?').bind(id).first();
  return row === null ? undefined : RowSchema.parse(row);
}

/** Whether the client was used: somebody let it in. */
export async function isInUse(db: D1Database, id: string): Promise<boolean> {
  const found = db.prepare('SELECT 1 FROM oauth_clients WHERE id = ? AND last_used_at IS NOT NULL');
  return (await found.bind(id).first()) !== null;
}

/** Inserts a client. A client with a document replaces its existing row. @param usedAt null if it was not used yet */
export function insertClient(
  db: D1Database,
  client: StoredClient,
  usedAt: number | null,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO oauth_clients (id, kind, name, redirect_uris, auth_methods, secret_hmac, key_id, jwks_uri, jwks, created_at,
         fresh_until, last_used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, redirect_uris = excluded.redirect_uris,
         auth_methods = excluded.auth_methods, jwks_uri = excluded.jwks_uri, jwks = excluded.jwks,
         fresh_until = excluded.fresh_until, last_used_at = coalesce(excluded.last_used_at, last_used_at)
       WHERE kind = 'document' AND excluded.kind = 'document'`,
    )
    .bind(
      client.id,
      client.kind,
      client.name,
      JSON.stringify(client.redirectUris),
      JSON.stringify(client.authMethods),
      client.secretHmac,
      client.keyId,
      client.jwksUri,
      client.jwks,
      client.createdAt,
      client.freshUntil,
      usedAt,
    );
}

/** Updates a stored client from its document. */
export function refreshClient(db: D1Database, client: StoredClient): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE oauth_clients SET name = ?, redirect_uris = ?, auth_methods = ?, jwks_uri = ?, jwks = ?, fresh_until = ?
       WHERE id = ? AND kind = 'document'`,
    )
    .bind(
      client.name,
      JSON.stringify(client.redirectUris),
      JSON.stringify(client.authMethods),
      client.jwksUri,
      client.jwks,
      client.freshUntil,
      client.id,
    );
}

/** Records that a client was used; writes nothing if that was recorded less than five minutes ago. */
export function touchClient(db: D1Database, id: string, now: number): D1PreparedStatement {
  return db
    .prepare(
      'UPDATE oauth_clients SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at <= ?1 - ?3)',
    )
    .bind(now, id, TOUCH_MS);
}

/** Moves the secret of a client to the active key, unless it changed meanwhile. */
export function moveSecret(
  db: D1Database,
  { id, secretHmac }: Pick<StoredClient, 'id' | 'secretHmac'>,
  hmac: string,
  keyId: string,
): D1PreparedStatement {
  return db
    .prepare(
      'UPDATE oauth_clients SET secret_hmac = ?, key_id = ? WHERE id = ? AND secret_hmac = ?',
    )
    .bind(hmac, keyId, id, secretHmac);
}

/** Condition: the client has no open grant. */
const UNGRANTED =
  'NOT EXISTS (SELECT 1 FROM oauth_grants WHERE client_id = oauth_clients.id AND expires_at > ?1)';

/** Deletes unused clients, except those that an administrator created. */
export function sweepClients(db: D1Database, now: number): D1PreparedStatement[] {
  const unused = (kind: 'document' | 'registered') =>
    db
      .prepare(
        `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE kind = ?2
           AND coalesce(last_used_at, created_at) <= ?3 AND ${UNGRANTED} LIMIT ${SWEPT})`,
      )
      .bind(now, kind, now - UNUSED_MS[kind]);
  const never = db
    .prepare(
      `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE kind = 'registered'
         AND last_used_at IS NULL AND created_at <= ?2 AND ${UNGRANTED} LIMIT ${SWEPT})`,
    )
    .bind(now, now - UNUSED_MS.never);
  const tooMany = db
    .prepare(
      `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE kind = 'registered'
         AND last_used_at IS NULL AND ${UNGRANTED} ORDER BY created_at DESC, id LIMIT ${SWEPT} OFFSET ${MAX_UNUSED})`,
    )
    .bind(now);
  return [unused('document'), unused('registered'), never, tooMany];
}
