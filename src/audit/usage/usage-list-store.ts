/** Reads of the table `usage`, grouped by the requested dimensions. */
import { z } from 'zod';
import { whereOwnRows } from '../own-rows-store.ts';
import type { OwnRows } from '../audit-schema.ts';
import type { NameParts } from '../../shared/naming/qualified-name.ts';
import { SUMS, type Dimension } from './usage-cells.ts';

/** Selects calls; an absent member does not restrict. */
export interface UsageFilter {
  own?: OwnRows | undefined;
  /** First and last day. */
  from: string;
  to: string;
  /** Any of these. */
  principalIds?: readonly string[] | undefined;
  tokenIds?: readonly string[] | undefined;
  group?: string | undefined;
  /** Any of these ids or names. */
  servers?: readonly string[] | undefined;
  /** Any of these. */
  tools?: readonly NameParts[] | undefined;
}

const COLUMNS: Readonly<Record<Dimension, readonly string[]>> = {
  day: ['day'],
  principal: ['principal_id'],
  token: ['token_id'],
  group: ['member_of'],
  server: ['server_id'],
  tool: ['action', 'server_id', 'tool'],
};

/** Groups that principals are in now: by their record, and by what an identity provider says. */
const MEMBERS = `(SELECT p.id AS member, g.value AS member_of FROM principals AS p, json_each(p.groups) AS g
    UNION SELECT i.principal_id, g.value FROM identities AS i, json_each(i.groups) AS g
      WHERE i.expires_at > unixepoch('subsec') * 1000)`;

const sums = Object.fromEntries(SUMS.map(name => [name, z.number()])) as Record<
  (typeof SUMS)[number],
  z.ZodNumber
>;
const RowSchema = z.object({
  day: z.string().optional(),
  principal_id: z.string().optional(),
  token_id: z.string().optional(),
  member_of: z.string().optional(),
  action: z.string().optional(),
  server_id: z.string().optional(),
  tool: z.string().optional(),
  server: z.string(),
  ...sums,
  max_ms: z.number(),
});
export type UsageRow = z.infer<typeof RowSchema>;

/** Where a page ended: the calls of its last row, and the key of that row. */
export type UsagePosition = readonly [calls: number, ...key: string[]];

/** Returns the columns that identify a row for some dimensions. */
export const columnsOf = (by: readonly Dimension[]): (keyof UsageRow)[] =>
  [...new Set(by.flatMap(each => COLUMNS[each]))] as (keyof UsageRow)[];

function conditionsOf(filter: UsageFilter): { sql: string; params: unknown[] } {
  const { own, principalIds, tokenIds, group, servers, tools } = filter;
  const list = 'SELECT value FROM json_each(?)';
  const mine = own && whereOwnRows(own, '1');
  const wanted: [sql: string, params: readonly unknown[] | undefined][] = [
    ['day >= ? AND day <= ?', [filter.from, filter.to]],
    [mine?.sql ?? '', mine?.params],
    [`principal_id IN (${list})`, principalIds && [JSON.stringify(principalIds)]],
    [`token_id IN (${list})`, tokenIds && [JSON.stringify(tokenIds)]],
    [
      `principal_id IN (SELECT member FROM ${MEMBERS} WHERE member_of = ?)`,
      group === undefined ? undefined : [group],
    ],
    [
      `(server_id IN (${list}) OR server COLLATE NOCASE IN (${list}))`,
      servers && [JSON.stringify(servers), JSON.stringify(servers)],
    ],
    [
      `EXISTS (SELECT 1 FROM json_each(?) AS named WHERE server = named.value ->> 'server' AND tool = named.value ->> 'tool')`,
      tools && [JSON.stringify(tools)],
    ],
  ];
  const given = wanted.filter(([, params]) => params !== undefined);
  return {
    sql: given.map(([sql]) => sql).join(' AND '),
    params: given.flatMap(([, params]) => params ?? []),
  };
}

/** Returns sums by some dimensions, the most calls first. */
export async function listUsage(
  db: D1Database,
  by: readonly Dimension[],
  filter: UsageFilter,
  limit: number,
  after?: UsagePosition,
): Promise<UsageRow[]> {
  const key = columnsOf(by).join(', ');
  const { sql, params } = conditionsOf(filter);
  const source = by.includes('group') ? `usage JOIN ${MEMBERS} ON member = principal_id` : 'usage';
  const marks = after?.slice(1).map(() => '?');
  const behind = marks ? `WHERE calls < ? OR (calls = ? AND (${key}) > (${marks.join(', ')}))` : '';
  const { results } = await db
    .prepare(
      `SELECT * FROM (SELECT ${key}, max(server) AS server, ${SUMS.map(name => `sum(${name}) AS ${name}`).join(', ')},
         max(max_ms) AS max_ms FROM ${source} WHERE ${sql} GROUP BY ${key})
       ${behind} ORDER BY calls DESC, ${key} LIMIT ?`,
    )
    .bind(...params, ...(after ? [after[0], ...after] : []), limit)
    .all();
  return results.map(row => RowSchema.parse(row));
}
