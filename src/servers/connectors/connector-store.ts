/** The `connectors` table. A device token is never stored, only its HMAC. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { RecordTable } from '../../records/record-store.ts';
import { StoredConnectorSchema, type StoredConnector } from './connector-schema.ts';

/** Most connectors of a deployment. */
export const MAX_CONNECTORS = 1_000;

export const CONNECTORS = {
  name: 'connectors',
  row: StoredConnectorSchema,
  isByName: true,
  hasNameAsKey: true,
  /** No connector has this name, whatever its case, and there is room for one. */
  whenPossible: ({ name }: StoredConnector) => ({
    sql: `NOT EXISTS (SELECT 1 FROM connectors WHERE name = ? COLLATE NOCASE)
      AND (SELECT count(*) FROM connectors) < ${MAX_CONNECTORS}`,
    params: [name],
  }),
} satisfies RecordTable<StoredConnector>;

/** The connector with one of these HMACs, one for each key of the ring. */
export async function findConnectorByHmac(
  db: D1Database,
  hmacs: readonly string[],
): Promise<StoredConnector | undefined> {
  const marks = hmacs.map(() => '?').join(', ');
  const row = await db
    .prepare(`SELECT * FROM connectors WHERE hmac IN (${marks})`)
    .bind(...hmacs)
    .first();
  return row === null ? undefined : StoredConnectorSchema.parse(row);
}

/** Put another device token in the place of the one before. */
export function rotateConnector(
  db: D1Database,
  id: string,
  token: { hmac: string; keyId: string; now: number },
): D1PreparedStatement {
  return db
    .prepare('UPDATE connectors SET hmac = ?, key_id = ?, rotated_at = ? WHERE id = ?')
    .bind(token.hmac, token.keyId, token.now, id);
}

/** Keep a device token that was found by another key's HMAC under the active key. */
export async function moveConnector(
  db: D1Database,
  id: string,
  hmac: string,
  keyId: string,
): Promise<void> {
  await db
    .prepare('UPDATE connectors SET hmac = ?, key_id = ? WHERE id = ?')
    .bind(hmac, keyId, id)
    .run();
}

/** Note that the machine of a connector came or went. */
export async function notePresence(
  db: D1Database,
  id: string,
  isConnected: boolean,
  now: number,
): Promise<void> {
  await db
    .prepare('UPDATE connectors SET is_connected = ?, last_seen_at = ? WHERE id = ?')
    .bind(isConnected ? 1 : 0, now, id)
    .run();
}

const ServerSchema = z.object({ id: z.string(), name: z.string(), server: z.string() });

/** The servers of a connector: their ids and names in the registry, and the names they have on its machine. */
export async function listConnectorServers(
  db: D1Database,
  connectorId: string,
): Promise<z.infer<typeof ServerSchema>[]> {
  const { results } = await db
    .prepare('SELECT id, name, connector_server AS server FROM servers WHERE connector_id = ?')
    .bind(connectorId)
    .all();
  return results.map(row => ServerSchema.parse(row));
}
