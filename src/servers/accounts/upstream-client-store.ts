/** The `upstream_clients` table: clients that issuers registered for this deployment. Reads return parsed rows. */
import { z } from 'zod';

const RowSchema = z.object({
  id: z.string(),
  client_id: z.string(),
  secret_sealed: z.string().nullable(),
  method: z.enum(['none', 'basic', 'post']),
});
export type StoredClient = z.infer<typeof RowSchema>;

/** Maximum number of stored clients; the oldest are deleted. */
const MAX_CLIENTS = 1_000;

/** Finds the client at an issuer by redirect URI or by client id. */
export async function findClient(
  db: D1Database,
  issuer: string,
  by: { redirectUri: string } | { clientId: string },
): Promise<StoredClient | undefined> {
  const [column, value] =
    'redirectUri' in by ? ['redirect_uri', by.redirectUri] : ['client_id', by.clientId];
  const found = await db
    .prepare(
      `SELECT id, client_id, secret_sealed, method FROM upstream_clients WHERE issuer = ? AND ${column} = ?`,
    )
    .bind(issuer, value)
    .first();
  return found === null ? undefined : RowSchema.parse(found);
}

/** Stores a client, unless one for the same issuer and redirect URI is stored already. */
export async function keepClient(
  db: D1Database,
  issuer: string,
  redirectUri: string,
  { id, client_id, secret_sealed, method }: StoredClient,
): Promise<void> {
  await db.batch([
    db
      .prepare(
        `INSERT INTO upstream_clients (id, issuer, redirect_uri, client_id, secret_sealed, method, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (issuer, redirect_uri) DO NOTHING`,
      )
      .bind(id, issuer, redirectUri, client_id, secret_sealed, method, Date.now()),
    db.prepare(
      `DELETE FROM upstream_clients WHERE id IN
         (SELECT id FROM upstream_clients ORDER BY created_at DESC LIMIT -1 OFFSET ${MAX_CLIENTS})`,
    ),
  ]);
}

/** Deletes a client that the issuer no longer knows. */
export async function deleteClient(
  db: D1Database,
  issuer: string,
  clientId: string,
): Promise<void> {
  await db
    .prepare('DELETE FROM upstream_clients WHERE issuer = ? AND client_id = ?')
    .bind(issuer, clientId)
    .run();
}
