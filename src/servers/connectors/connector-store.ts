/** The `connectors` table. A device token is never stored, only its HMAC. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import type { StoredConnector } from './connector-schema.ts';

/** Most connectors of a deployment. */
export const MAX_CONNECTORS = 1_000;

const RowSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    key_id: z.string(),
    is_connected: z.number(),
    created_at: z.number(),
    last_seen_at: z.number().nullable(),
    rotated_at: z.number(),
  })
  .transform(row => ({
    id: row.id,
    name: row.name,
    keyId: row.key_id,
    isConnected: row.is_connected === 1,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    rotatedAt: row.rotated_at,
  }));

/** A connector with the id of the key its HMAC is under. */
export type KeyedConnector = StoredConnector & { keyId: string };

const COLUMNS = 'id, name, key_id, is_connected, created_at, last_seen_at, rotated_at';

const TotalSchema = z.object({ total: z.number() });

/** One page in the order of names, and how many there are. */
export async function listConnectors(
  db: D1Database,
  limit: number,
  afterName?: string,
): Promise<ListPage<StoredConnector> & { total: number }> {
  const [page, total] = await db.batch([
    db
      .prepare(
        `SELECT ${COLUMNS} FROM connectors WHERE ?1 IS NULL OR name > ?1 ORDER BY name LIMIT ?2`,
      )
      .bind(afterName ?? null, limit + 1),
    db.prepare('SELECT count(*) AS total FROM connectors'),
  ]);
  const connectors = (page?.results ?? []).map(row => RowSchema.parse(row));
  return {
    ...toListPage(connectors, limit, ({ name }) => [name]),
    total: TotalSchema.parse(total?.results[0]).total,
  };
}

/** One connector by its id or its name, or undefined. */
export async function findConnector(
  db: D1Database,
  key: string,
): Promise<StoredConnector | undefined> {
  const row = await db
    .prepare(
      `SELECT ${COLUMNS} FROM connectors WHERE id = ?1 OR name = ?1 COLLATE NOCASE ORDER BY id <> ?1 LIMIT 1`,
    )
    .bind(key)
    .first();
  return row === null ? undefined : RowSchema.parse(row);
}

/** The connector with one of these HMACs, one for each key of the ring. */
export async function findConnectorByHmac(
  db: D1Database,
  hmacs: readonly string[],
): Promise<KeyedConnector | undefined> {
  const marks = hmacs.map(() => '?').join(', ');
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM connectors WHERE hmac IN (${marks})`)
    .bind(...hmacs)
    .first();
  return row === null ? undefined : RowSchema.parse(row);
}

const IS_POSSIBLE = `NOT EXISTS (SELECT 1 FROM connectors WHERE name = ? COLLATE NOCASE)
  AND (SELECT count(*) FROM connectors) < ${MAX_CONNECTORS}`;

/** Insert a connector where {@link whenConnectorPossible} holds. */
export function insertConnector(
  db: D1Database,
  { id, name, createdAt }: StoredConnector,
  hmac: string,
  keyId: string,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO connectors (id, name, hmac, key_id, created_at) SELECT ?, ?, ?, ?, ? WHERE ${IS_POSSIBLE}`,
    )
    .bind(id, name, hmac, keyId, createdAt, name);
}

/** No connector has this name, whatever its case, and there is room for one. */
export function whenConnectorPossible(name: string): Condition {
  return { sql: IS_POSSIBLE, params: [name] };
}

export function whenConnector(id: string): Condition {
  return { sql: 'EXISTS (SELECT 1 FROM connectors WHERE id = ?)', params: [id] };
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

export function deleteConnector(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM connectors WHERE id = ?').bind(id);
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
