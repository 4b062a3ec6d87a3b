/** Pages of the `servers` table for administrators, filtered and ordered by name. Requests of clients read the snapshot instead. */
import { z } from 'zod';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import type { TransportType } from './server-schema.ts';
import { SELECT_SERVERS } from './server-store.ts';
import type { ServerStatus } from './status.ts';

/** Filter for servers; an absent field matches every server. */
export interface ServerFilter {
  status?: ServerStatus | undefined;
  transportType?: TransportType | undefined;
  /** Part of the name, ignoring case. */
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

/** Lists id and name of every server. */
export async function listServerNames(db: D1Database): Promise<NamedServer[]> {
  const { results } = await db.prepare('SELECT id, name FROM servers').all();
  return z.array(z.object({ id: z.string(), name: z.string() })).parse(results);
}

/** Selects at most `limit` servers after a name; rows for `parseServers`. */
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

/** Counts the matching servers. */
export function selectServerTotal(db: D1Database, filter: ServerFilter): D1PreparedStatement {
  return db
    .prepare(`SELECT count(*) AS total FROM servers WHERE ${MATCHES}`)
    .bind(...toParams(filter));
}

/** Parses the row of a total. */
export function parseTotal(rows: readonly unknown[]): number {
  return z.object({ total: z.number() }).parse(rows[0]).total;
}
