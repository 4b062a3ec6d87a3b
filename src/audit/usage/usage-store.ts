/** The tables `usage`, `usage_progress` and `usage_open`: calls added up. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { ChainedEvent } from '../audit-schema.ts';
import type { Condition } from '../audit-store.ts';
import { toChunks } from '../../shared/util/chunks.ts';
import { SUMS, toCell, type UsageCell } from './usage-cells.ts';

/** Most rows of a day; further calls are added to one row of their principal, token and action, with `*` as server and tool. */
const MAX_DAY_ROWS = 20_000;
/** Stands for servers and tools that have no row of their own. */
export const OTHERS = '*';

const KEY = ['day', 'principal_id', 'token_id', 'action', 'server_id', 'tool'] as const;
const COLUMNS = [...KEY, 'server', ...SUMS, 'max_ms'];
const IS_THERE = KEY.map(name => `usage.${name} = each.${name}`).join(' AND ');
const own = (name: string) => `CASE WHEN fits THEN ${name} ELSE '${OTHERS}' END AS ${name}`;

/** Returns a cell as JSON. */
const toText = ({ sums, ...cell }: UsageCell & { seq?: number }): string =>
  JSON.stringify([
    cell.day,
    cell.principalId,
    cell.tokenId,
    cell.action,
    cell.serverId,
    cell.tool,
    cell.server,
    ...SUMS.map(name => sums[name]),
    cell.maxMs,
    cell.seq ?? 0,
  ]);

/** Adds cells. @param when condition, which may refer to the cell (`each.value`); its parameters start at `?2` */
function addUsage(db: D1Database, cells: readonly string[], when: Condition): D1PreparedStatement {
  const values = COLUMNS.map((name, n) => `value ->> ${n} AS ${name}`).join(', ');
  return db
    .prepare(
      `WITH given AS MATERIALIZED (SELECT ${values} FROM json_each(?1) AS each WHERE ${when.sql}),
         full AS MATERIALIZED (SELECT day FROM usage WHERE day IN (SELECT day FROM given)
           GROUP BY day HAVING count(*) >= ${MAX_DAY_ROWS}),
         placed AS MATERIALIZED (SELECT *, each.day NOT IN (SELECT day FROM full)
           OR EXISTS (SELECT 1 FROM usage WHERE ${IS_THERE}) AS fits FROM given AS each),
         kept AS MATERIALIZED (SELECT day, principal_id, token_id, action, ${['server_id', 'tool', 'server'].map(own).join(', ')},
           ${[...SUMS, 'max_ms'].join(', ')} FROM placed)
       INSERT INTO usage (${COLUMNS.join(', ')})
       SELECT ${KEY.join(', ')}, max(server), ${SUMS.map(name => `sum(${name})`).join(', ')}, max(max_ms) FROM kept
       GROUP BY ${KEY.join(', ')}
       ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET ${SUMS.map(name => `${name} = ${name} + excluded.${name}`).join(', ')},
         max_ms = max(max_ms, excluded.max_ms), server = iif(excluded.server = '', server, excluded.server)`,
    )
    .bind(`[${cells.join(',')}]`, ...when.params);
}

/** Adds those rows of calls of one shard that the database does not have yet; must run before the statement that inserts them. */
export const addMissing = (db: D1Database, rows: readonly ChainedEvent[]): D1PreparedStatement =>
  addUsage(
    db,
    rows.map(row => toText({ ...toCell(row), seq: row.seq })),
    {
      sql: `NOT EXISTS (SELECT 1 FROM audit_events WHERE shard = ?2 AND seq = each.value ->> ${COLUMNS.length})`,
      params: [rows[0]?.shard ?? ''],
    },
  );

const ProgressSchema = z.object({ chunk_id: z.string() });

/** Returns the last chunk that is in the sums; empty before the first. */
export async function findProgress(db: D1Database): Promise<string> {
  const row = await db.prepare('SELECT chunk_id FROM usage_progress').first();
  return ProgressSchema.parse(row).chunk_id;
}

/** A part of the chain of chunks, added up. */
export interface UsagePart {
  /** The last chunk before the part, and the last chunk of it. */
  afterId: string;
  lastId: string;
  cells: readonly UsageCell[];
  /** Calls of the part that are in the sums without their end. */
  open: readonly { id: string; at: number }[];
  /** Earlier calls whose end is in the part. */
  ended: readonly string[];
  /** Calls that began before this time can no longer get an end. */
  longestAt: number;
}

/** Adds a part, unless it was added already. One batch. */
export function addPart(db: D1Database, part: UsagePart): D1PreparedStatement[] {
  const isNext = 'EXISTS (SELECT 1 FROM usage_progress WHERE chunk_id = ?2)';
  const { afterId, lastId, cells, open, ended, longestAt } = part;
  return [
    ...toChunks(cells.map(toText)).map(some =>
      addUsage(db, some, { sql: isNext, params: [afterId] }),
    ),
    db
      .prepare(
        `INSERT INTO usage_open (id, at) SELECT value ->> 'id', value ->> 'at' FROM json_each(?1) WHERE ${isNext}
         ON CONFLICT DO NOTHING`,
      )
      .bind(JSON.stringify(open), afterId),
    db
      .prepare(`DELETE FROM usage_open WHERE id IN (SELECT value FROM json_each(?1)) AND ${isNext}`)
      .bind(JSON.stringify(ended), afterId),
    db.prepare(`DELETE FROM usage_open WHERE at < ?1 AND ${isNext}`).bind(longestAt, afterId),
    db.prepare('UPDATE usage_progress SET chunk_id = ?1 WHERE chunk_id = ?2').bind(lastId, afterId),
  ];
}

/** Returns which of these calls are in the sums without their end. */
export async function findOpen(db: D1Database, ids: readonly string[]): Promise<Set<string>> {
  const { results } = await db
    .prepare('SELECT id FROM usage_open WHERE id IN (SELECT value FROM json_each(?))')
    .bind(JSON.stringify(ids))
    .all();
  return new Set(results.map(row => z.object({ id: z.string() }).parse(row).id));
}

/** Returns the first chunk that is not in the sums; undefined if all are. */
export async function findFirstLeft(db: D1Database): Promise<string | undefined> {
  const row = await db
    .prepare(
      `SELECT id AS chunk_id FROM call_chunks WHERE id > (SELECT chunk_id FROM usage_progress) ORDER BY id LIMIT 1`,
    )
    .first();
  return row === null ? undefined : ProgressSchema.parse(row).chunk_id;
}

/** Deletes the usage of the days before one. */
export const deleteUsage = (db: D1Database, day: string): D1PreparedStatement =>
  db.prepare('DELETE FROM usage WHERE day < ?').bind(day);
