/** Pages of the `servers` table for administrators, filtered and in the order of names. Requests of clients read the snapshot. */
import { z } from 'zod';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import type { TransportType } from './server-schema.ts';
import { SELECT_SERVERS } from './server-store.ts';
import type { ServerStatus } from './status.ts';

/** Which servers; what is absent lets every one through. */
export interface ServerFilter {
  status?: ServerStatus | undefined;
  transportType?: TransportType | undefined;
  /** A part of the name, without regard to case. */
  name?: string | undefined;
  ids?: readonly string[] | undefined;
}

const MATCHES = `(?1 IS NULL OR status = ?1) AND (?2 IS NULL OR iif(connector_id IS NULL, transport_type, 'STDIO') = ?2)
  AND (?3 IS NULL OR instr(lower(name), lower(?3)) > 0)
  AND (?4 IS NULL OR id IN (SELECT value FROM json_each(?4)))`;

const toParams = ({ status, transportType, name, ids }: ServerFilter) => [
  status ?? null,
  transportType ?? null,
  name ?? null,
  ids ? JSON.stringify(ids) : null,
];

/** Id and name of every server. */
export async function listServerNames(db: D1Database): Promise<NamedServer[]> {
  const { results } = await db.prepare('SELECT id, name FROM servers').all();
  return z.array(z.object({ id: z.string(), name: z.string() })).parse(results);
}

/** The servers after a name, `limit` at most; rows for `parseServers`. */
export function selectServerPage(
  db: D1Database,
  filter: ServerFilter,
  afterName: string | undefined,
  limit: number,
): D1PreparedStatement {
  return db
    .prepare(
      `${SELECT_SERVERS} WHERE ${MATCHES} AND (?5 IS NULL OR name > ?5) ORDER BY name LIMIT ?6`,
    )
    .bind(...toParams(filter), afterName ?? null, limit);
}

/** How many servers match. */
export function selectServerTotal(db: D1Database, filter: ServerFilter): D1PreparedStatement {
  return db
    .prepare(`SELECT count(*) AS total FROM servers WHERE ${MATCHES}`)
    .bind(...toParams(filter));
}

/** The row of a total. */
export function parseTotal(rows: readonly unknown[]): number {
  return z.object({ total: z.number() }).parse(rows[0]).total;
}
