/** Reads of `audit_events` for searches and checks. Only reads. */
import { z } from 'zod';
import { toListPage, type ListPage } from '../shared/util/page.ts';
import {
  CALLS_SHARD,
  GENESIS,
  type AuditFilter,
  type AuditOrder,
  type AuditPosition,
  type ChainedEvent,
  type ChainHead,
} from './audit-schema.ts';
import { parseEvents } from './audit-store.ts';
import { whereOwnRows } from './own-rows-store.ts';
import { toPlaces } from './places.ts';

const ORDERS = {
  newest: { after: '<', order: 'at DESC, shard DESC, seq DESC' },
  oldest: { after: '>', order: 'at, shard, seq' },
} as const;

/** Call shards are named `calls`, or `calls:` with a principal. */
const OF_CALLS = "(+shard = 'calls' OR (+shard >= 'calls:' AND +shard < 'calls;'))";

const among = (column: string) => `${column} IN (SELECT value FROM json_each(?))`;
const toJson = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value));
/** The subject lies in one of these ranges, both ends included. */
const OF_SERVERS = `EXISTS (SELECT 1 FROM json_each(?) AS place
  WHERE subject >= place.value ->> 0 AND subject <= place.value ->> 1)`;

/** Returns the condition that rows of a filter meet. */
export function conditionsOf(filter: AuditFilter): { sql: string; params: unknown[] } {
  const prefix = filter.subjectPrefix;
  const given: [condition: string, value: string | number | undefined][] = [
    [among('principal_id'), toJson(filter.principalIds)],
    [among('token_id'), toJson(filter.tokenIds)],
    ['action = ?', filter.action],
    [among('subject'), toJson(filter.subjects)],
    [OF_SERVERS, toJson(filter.ofServers && toPlaces(filter.ofServers))],
    ['subject >= ?', prefix],
    ['subject < ?', prefix === undefined ? undefined : `${prefix}\u{10FFFF}`],
    ['outcome = ?', filter.outcome],
    ['at >= ?', filter.since],
    ['at < ?', filter.until],
  ];
  const wanted = given.filter(([, value]) => value !== undefined);
  const isOfCalls =
    filter.kind === undefined ? '1' : filter.kind === 'calls' ? OF_CALLS : `NOT ${OF_CALLS}`;
  const own = filter.own && whereOwnRows(filter.own, OF_CALLS);
  return {
    sql: [isOfCalls, ...(own ? [own.sql] : []), ...wanted.map(([sql]) => sql)].join(' AND '),
    params: [...(own?.params ?? []), ...wanted.map(([, value]) => value)],
  };
}

/** Returns the next events, up to a limit. */
export async function listEvents(
  db: D1Database,
  filter: AuditFilter,
  order: AuditOrder,
  limit: number,
  after?: AuditPosition,
): Promise<ChainedEvent[]> {
  const { sql, params } = conditionsOf(filter);
  const behind = after ? `AND (at, shard, seq) ${ORDERS[order].after} (?, ?, ?)` : '';
  const { results } = await db
    .prepare(
      `SELECT * FROM audit_events WHERE ${sql} ${behind} ORDER BY ${ORDERS[order].order} LIMIT ?`,
    )
    .bind(...params, ...(after ?? []), limit)
    .all();
  return parseEvents(results);
}

/** Returns the position of a row, or undefined if no row with this id passes the filter. */
export async function findPosition(
  db: D1Database,
  id: string,
  filter: AuditFilter,
): Promise<AuditPosition | undefined> {
  const { sql, params } = conditionsOf(filter);
  const row = await db
    .prepare(`SELECT at, shard, seq FROM audit_events WHERE id = ? AND ${sql}`)
    .bind(id, ...params)
    .first();
  if (row === null) return undefined;
  const { at, shard, seq } = PositionSchema.parse(row);
  return [at, shard, seq];
}

const PositionSchema = z.object({ at: z.number(), shard: z.string(), seq: z.number() });

/** The head of a shard's chain, how far it was pruned, and the number of its last row, all at one moment. */
export interface ChainEnds {
  head: ChainHead;
  pruned: ChainHead;
  lastSeq: number;
}

const KeptSchema = z.object({
  seq: z.number(),
  hash: z.string(),
  pruned_seq: z.number(),
  pruned_hash: z.string().nullable(),
});

const toKept = ({ seq, hash, ...row }: z.infer<typeof KeptSchema>) => ({
  head: { seq, hash },
  pruned: row.pruned_hash === null ? GENESIS : { seq: row.pruned_seq, hash: row.pruned_hash },
});

export async function findEnds(db: D1Database, shard: string): Promise<ChainEnds> {
  const [last, kept] = await db.batch([
    db.prepare('SELECT coalesce(max(seq), 0) AS seq FROM audit_events WHERE shard = ?').bind(shard),
    db.prepare('SELECT * FROM audit_heads WHERE shard = ?').bind(shard),
  ]);
  const { seq: lastSeq } = z.object({ seq: z.number() }).parse(last?.results[0]);
  const row = kept?.results[0];
  const ends = row ? toKept(KeptSchema.parse(row)) : { head: GENESIS, pruned: GENESIS };
  return { ...ends, lastSeq };
}

/** A shard, and where its chain begins and ends. */
export interface ShardEnds {
  shard: string;
  head: ChainHead;
  pruned: ChainHead;
}

/** Returns the shards after a name, in the order of their names. */
export async function listShards(
  db: D1Database,
  limit: number,
  after = '',
): Promise<ListPage<ShardEnds>> {
  const { results } = await db
    .prepare(
      `SELECT shard, seq, hash, pruned_seq, pruned_hash FROM audit_heads WHERE shard > ?1 AND shard <> '${CALLS_SHARD}'
       UNION ALL
       SELECT '${CALLS_SHARD}', coalesce((SELECT max(seq) FROM call_seals), 0),
         coalesce((SELECT hash FROM call_seals ORDER BY seq DESC LIMIT 1), '${GENESIS.hash}'),
         coalesce((SELECT pruned_seq FROM audit_heads WHERE shard = '${CALLS_SHARD}'), 0),
         (SELECT pruned_hash FROM audit_heads WHERE shard = '${CALLS_SHARD}')
       WHERE '${CALLS_SHARD}' > ?1 AND (EXISTS (SELECT 1 FROM call_chunks) OR EXISTS (SELECT 1 FROM call_seals))
       ORDER BY shard LIMIT ?2`,
    )
    .bind(after, limit + 1)
    .all();
  const schema = KeptSchema.extend({ shard: z.string() });
  const shards = results
    .map(row => schema.parse(row))
    .map(row => ({ shard: row.shard, ...toKept(row) }));
  return toListPage(shards, limit, ({ shard }) => [shard]);
}
