/** The `connectors` table. Only the HMAC of a device token is stored. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import type { RecordTable } from '../../records/record-store.ts';
import { StoredConnectorSchema, type StoredConnector } from './connector-schema.ts';

/** Maximum number of connectors in a deployment. */
export const MAX_CONNECTORS = 1_000;

export const CONNECTORS = {
  name: 'connectors',
  row: StoredConnectorSchema,
  isByName: true,
  hasNameAsKey: true,
  /** Condition: no connector has this name (ignoring case), and there is room for another. */
  whenPossible: ({ name }: StoredConnector) => ({
    sql: `NOT EXISTS (SELECT 1 FROM connectors WHERE name = ? COLLATE NOCASE)
      AND (SELECT count(*) FROM connectors) < ${MAX_CONNECTORS}`,
    params: [name],
  }),
} satisfies RecordTable<StoredConnector>;

/** Finds the connector with one of these HMACs, one for each key of the ring. */
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

/** Replaces a connector's device token. */
export function rotateConnector(
  db: D1Database,
  id: string,
  token: { hmac: string; keyId: string; now: number },
): D1PreparedStatement {
  return db
    .prepare('UPDATE connectors SET hmac = ?, key_id = ?, rotated_at = ? WHERE id = ?')
    .bind(token.hmac, token.keyId, token.now, id);
}

/** Moves a device token that was found by another key's HMAC to the active key, unless it was replaced meanwhile. */
export async function moveConnector(
  db: D1Database,
  { id, key_id: former }: Pick<StoredConnector, 'id' | 'key_id'>,
  hmac: string,
  keyId: string,
): Promise<void> {
  await db
    .prepare('UPDATE connectors SET hmac = ?, key_id = ? WHERE id = ? AND key_id = ?')
    .bind(hmac, keyId, id, former)
    .run();
}

/** Notes that the machine of a connector connected or disconnected. */
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

/** Condition: the connector has fewer servers than this. */
export const whenFewer = (connectorId: string, most: number): Condition => ({
  sql: '(SELECT count(*) FROM servers WHERE connector_id = ?) < ?',
  params: [connectorId, most],
});

const ServerSchema = z.object({ id: z.string(), name: z.string(), server: z.string() });

/** Lists the servers of a connector: ids and names in the registry, and names on its machine. */
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
