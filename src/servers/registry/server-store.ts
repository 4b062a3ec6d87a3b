/** The `servers` table. Reads return parsed rows; writes return statements, so that a service can put them in one batch. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import {
  CREDENTIAL_COLUMNS,
  CREDENTIAL_SHAPE,
  CREDENTIAL_UPDATE,
  credentialParams,
  credentialUpdateParams,
  REFERRED_COLUMNS,
  toCredential,
} from '../../credentials/credential-store.ts';
import { parseRulesOfServer, RULES_OF_SERVER } from '../cache-rules/cache-rule-store.ts';
import { AccountModeSchema, type AccountMode } from '../../shared/identity/account.ts';
import { ToolApprovalSchema } from './approval.ts';
import { HealthSettingsSchema, NetworkTransportSchema, type Server } from './server-schema.ts';
import { parsePlace } from './connector-place.ts';
import { isChanged } from './revision-store.ts';
import { ServerStatusSchema, type ServerStatus } from './status.ts';

const ServerProtocolSchema = z.object({
  era: z.enum(['legacy', 'modern']),
  protocolVersion: z.string(),
  transport: z.enum(['http', 'sse']),
  sessionful: z.boolean(),
  legacy: z.object({ protocolVersion: z.string(), sessionful: z.boolean() }).optional(),
});

const RowSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    transport_type: NetworkTransportSchema,
    url: z.string(),
    connector_id: z.string().nullable(),
    ...CREDENTIAL_SHAPE,
    health_check_url: z.string().nullable(),
    auto_connect: z.number(),
    status: ServerStatusSchema,
    last_error: z.string().nullable(),
    verdict: z.string().nullable(),
    catalog_hash: z.string().nullable(),
    tool_count: z.number(),
    registered_at: z.number(),
    updated_at: z.number(),
    disconnected_at: z.number().nullable(),
    health_settings: z.string().nullable(),
    circuit_retry_at: z.number().nullable(),
    tool_approval: ToolApprovalSchema.nullable(),
    pins_stamp: z.string().nullable(),
    held_tools: z.number(),
    // The previous release's schema does not have this column.
    accounts: AccountModeSchema.default('shared'),
    skills_revision: z.number(),
    taxonomy_revision: z.number(),
    cache_rules: z.string(),
    revision: z.number(),
    generation: z.number(),
  })
  .transform((row): Server => ({
    id: row.id,
    name: row.name,
    description: row.description,
    transportType: row.connector_id === null ? row.transport_type : 'STDIO',
    url: row.url,
    credential: toCredential(row),
    healthCheckUrl: row.health_check_url,
    autoConnect: row.auto_connect === 1,
    healthSettings: HealthSettingsSchema.parse(JSON.parse(row.health_settings ?? '{}')),
    status: row.status,
    lastError: row.last_error,
    verdict: row.verdict === null ? null : ServerProtocolSchema.parse(JSON.parse(row.verdict)),
    catalogHash: row.catalog_hash,
    toolCount: row.tool_count,
    registeredAt: row.registered_at,
    updatedAt: row.updated_at,
    disconnectedAt: row.disconnected_at,
    circuitRetryAt: row.circuit_retry_at,
    toolApproval: row.tool_approval,
    approvalsStamp: row.pins_stamp,
    heldTools: row.held_tools,
    accounts: row.accounts,
    skillsRevision: row.skills_revision,
    taxonomyRevision: row.taxonomy_revision,
    cacheRules: parseRulesOfServer(row.cache_rules),
    revision: row.revision,
    generation: row.generation,
  }));

/** Parses rows of {@link selectServers}. */
export function parseServers(rows: readonly unknown[]): Server[] {
  return rows.map(row => RowSchema.parse(row));
}

/** Start of a query whose rows `parseServers` reads; append the conditions. */
export const SELECT_SERVERS = `SELECT servers.*, (SELECT revision FROM taxonomy) AS taxonomy_revision, ${RULES_OF_SERVER}, ${REFERRED_COLUMNS} FROM servers`;

/** Selects all servers ordered by name. */
export function selectServers(db: D1Database): D1PreparedStatement {
  return db.prepare(`${SELECT_SERVERS} ORDER BY name`);
}

/** Selects the servers that changed since a revision of the registry. */
export function selectChangedServers(db: D1Database, since: number): D1PreparedStatement {
  return db.prepare(`${SELECT_SERVERS} WHERE ${isChanged('server')}`).bind(since);
}

/** Reads one server, or undefined. */
export async function findServer(db: D1Database, id: string): Promise<Server | undefined> {
  const row = await db.prepare(`${SELECT_SERVERS} WHERE id = ?`).bind(id).first();
  return row === null ? undefined : RowSchema.parse(row);
}

/** Inserts a server, if the condition holds. @param when includes {@link whenPossible} */
export function insertServer(db: D1Database, server: Server, when: Condition): D1PreparedStatement {
  const place = parsePlace(server.url);
  return db
    .prepare(
      `INSERT INTO servers (id, name, description, transport_type, url, health_check_url,
         health_settings, auto_connect, tool_approval, status, registered_at, updated_at, connector_id, connector_server, ${CREDENTIAL_COLUMNS.join(', ')})
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ${when.sql}`,
    )
    .bind(
      server.id,
      server.name,
      server.description,
      storedTransport(server),
      server.url,
      server.healthCheckUrl,
      toSettingsText(server),
      server.autoConnect ? 1 : 0,
      server.toolApproval,
      server.status,
      server.registeredAt,
      server.updatedAt,
      place?.connectorId ?? null,
      place?.server ?? null,
      ...credentialParams(server.credential),
      ...when.params,
    );
}

const NAME_IS_FREE = 'NOT EXISTS (SELECT 1 FROM servers WHERE name = ? COLLATE NOCASE AND id <> ?)';
const PLACE_IS_FREE =
  'NOT EXISTS (SELECT 1 FROM servers WHERE url = ? AND connector_id IS NOT NULL AND id <> ?)';
const IS_POSSIBLE = `${NAME_IS_FREE} AND ${PLACE_IS_FREE}`;
const possibleParams = ({ name, id, url }: Server) => [name, id, url, id] as const;

/** The gateway reaches a connector's servers over a minimal form of HTTP, so they are stored as HTTP. */
const storedTransport = ({ transportType }: Server) =>
  transportType === 'STDIO' ? 'HTTP' : transportType;

const toSettingsText = ({ healthSettings }: Server) =>
  Object.keys(healthSettings).length === 0 ? null : JSON.stringify(healthSettings);

/** Condition: no other server has this name (ignoring case) or is the same program. */
export function whenPossible(server: Server): Condition {
  return { sql: IS_POSSIBLE, params: possibleParams(server) };
}

/** Condition: the server is still at this revision, and {@link whenPossible} holds. */
export function whenUnchanged(server: Server): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM servers WHERE id = ? AND revision = ?) AND ${IS_POSSIBLE}`,
    params: [server.id, server.revision, ...possibleParams(server)],
  };
}

/** Condition: the server exists and has one of these statuses. */
export function whenStatus(id: string, statuses: readonly ServerStatus[]): Condition {
  const marks = statuses.map(() => '?').join(', ');
  return {
    sql: `EXISTS (SELECT 1 FROM servers WHERE id = ? AND status IN (${marks}))`,
    params: [id, ...statuses],
  };
}

/**
 * Writes whose account calls use, if the server is still at the revision it was read at. Returns nothing if the mode is unchanged, because
 * the previous release's schema does not have the column.
 */
export function accountsChange(
  db: D1Database,
  server: Server,
  before: AccountMode,
): D1PreparedStatement[] {
  const { id, revision, accounts } = server;
  if (accounts === before) return [];
  const update = db
    .prepare(`UPDATE servers SET accounts = ? WHERE id = ? AND revision = ? AND ${IS_POSSIBLE}`)
    .bind(accounts, id, revision, ...possibleParams(server));
  return [update];
}

/**
 * Writes an edit, if the server is still at the revision it was read at.
 * @param before previous account mode
 * @param isMoved the connection changed: clears the negotiated protocol, and the server connects again unless it is disconnected
 */
export function updateServer(
  db: D1Database,
  server: Server,
  isMoved: boolean,
  before: AccountMode,
): D1PreparedStatement[] {
  const moved = isMoved
    ? `, generation = generation + 1, verdict = NULL, last_error = NULL, circuit_retry_at = NULL,
       status = CASE status WHEN 'DISCONNECTED' THEN status ELSE 'CONNECTING' END`
    : '';
  const update = db
    .prepare(
      `UPDATE servers SET name = ?, description = ?, transport_type = ?, url = ?, health_check_url = ?,
         health_settings = ?, auto_connect = ?, tool_approval = ?, updated_at = ?, ${CREDENTIAL_UPDATE},
         revision = revision + 1${moved} WHERE id = ? AND revision = ? AND ${IS_POSSIBLE}`,
    )
    .bind(
      server.name,
      server.description,
      storedTransport(server),
      server.url,
      server.healthCheckUrl,
      toSettingsText(server),
      server.autoConnect ? 1 : 0,
      server.toolApproval,
      server.updatedAt,
      ...credentialUpdateParams(server.credential),
      server.id,
      server.revision,
      ...possibleParams(server),
    );
  return [...accountsChange(db, server, before), update];
}

/** Starts to connect a server that is disconnected or in ERROR. */
export function updateConnecting(db: D1Database, id: string, now: number): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE servers SET status = 'CONNECTING', generation = generation + 1, last_error = NULL, circuit_retry_at = NULL,
         disconnected_at = NULL, updated_at = ? WHERE id = ? AND status IN ('DISCONNECTED', 'ERROR')`,
    )
    .bind(now, id);
}

/** Disconnects a server: requests that begin from now on do not see its tools. */
export function updateDisconnected(db: D1Database, id: string, now: number): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE servers SET status = 'DISCONNECTED', generation = generation + 1, last_error = NULL, circuit_retry_at = NULL,
         disconnected_at = ?, updated_at = ? WHERE id = ? AND status <> 'DISCONNECTED'`,
    )
    .bind(now, now, id);
}

export function deleteServer(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM servers WHERE id = ?').bind(id);
}
