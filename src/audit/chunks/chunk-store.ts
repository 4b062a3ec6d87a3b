/** The table `call_chunks`. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import { firstIdAt, timeOfId } from '../../shared/util/time-id.ts';
import type { AuditFilter, AuditOrder } from '../audit-schema.ts';
import type { Condition } from '../audit-store.ts';
import { toPlace, toPlaces } from '../places.ts';
import type { CallChunk } from './call-chunk.ts';

/**
 * A chunk is written within this time of its id, by the database's clock, or not at all; in milliseconds. Older chunks
 * can therefore be sealed: nothing can come before them any more.
 */
export const WRITABLE_MS = 20_000;

const NOW = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`;

const ChunkSchema = z
  .object({
    id: z.string(),
    from_at: z.number(),
    to_at: z.number(),
    calls: z.number(),
    keys: z.string(),
    hash: z.string(),
    body: z.string(),
  })
  .transform(({ from_at: fromAt, to_at: toAt, ...rest }): CallChunk => ({ fromAt, toAt, ...rest }));

const FoundSchema = z.object({ is_there: z.number(), now: z.number() });

/**
 * Writes a chunk, unless it exists or the time to write it is over.
 * @returns whether it exists afterwards, and the database's time
 * @throws Error if the database cannot be written, or if it is not known whether the chunk was written
 */
export async function writeChunk(
  db: D1Database,
  chunk: CallChunk,
): Promise<{ isThere: boolean; now: number }> {
  const { id, fromAt, toAt, calls, keys, hash, body } = chunk;
  const [, found] = await db.batch([
    db
      .prepare(
        `INSERT INTO call_chunks (id, from_at, to_at, calls, keys, hash, body)
         SELECT ?, ?, ?, ?, ?, ?, ? WHERE abs(${NOW} - ?) < ${WRITABLE_MS} ON CONFLICT DO NOTHING`,
      )
      .bind(id, fromAt, toAt, calls, keys, hash, body, timeOfId(id) ?? 0),
    db
      .prepare(`SELECT EXISTS (SELECT 1 FROM call_chunks WHERE id = ?) AS is_there, ${NOW} AS now`)
      .bind(id),
  ]);
  const { is_there: isThere, now } = FoundSchema.parse(found?.results[0]);
  return { isThere: isThere === 1, now };
}

/** A range of chunks: by id, and by the times at which their calls may have begun. */
export interface ChunkRange {
  /** First id. */
  fromId: string;
  /** The first id after the range. */
  beforeId: string;
  /** Calls that began at `since` or later, and before `until`. */
  since: number;
  until: number;
}

const anyOf = (member: string) =>
  `EXISTS (SELECT 1 FROM json_each(keys, '$.${member}') WHERE value IN (SELECT value FROM json_each(?)))`;
const IN_PLACES = `EXISTS (SELECT 1 FROM json_each(keys, '$.subjects') AS of_chunk, json_each(?) AS place
  WHERE of_chunk.value >= place.value ->> 0 AND of_chunk.value <= place.value ->> 1)`;

/** Returns the conditions on chunks that can hold a matching call; all others are skipped. */
function conditionsOf(filter: AuditFilter): { sql: string; value: string }[] {
  const { own, action, outcome, subjectPrefix, ofServers } = filter;
  const wanted: [sql: string, value: readonly unknown[] | undefined][] = [
    [anyOf('principals'), own && [own.principalId]],
    [anyOf('tokens'), own && !own.callsBut ? [own.tokenId] : undefined],
    [anyOf('principals'), filter.principalIds],
    [anyOf('tokens'), filter.tokenIds],
    [anyOf('actions'), action === undefined ? undefined : [action]],
    [anyOf('subjects'), filter.subjects],
    [anyOf('outcomes'), outcome === undefined ? undefined : [outcome]],
    [IN_PLACES, subjectPrefix === undefined ? undefined : [toPlace(subjectPrefix)]],
    [IN_PLACES, ofServers && toPlaces(ofServers)],
  ];
  return wanted.flatMap(([sql, value]) => (value ? [{ sql, value: JSON.stringify(value) }] : []));
}

/** The condition for the chunks of a range. */
export const whereInRange = ({ fromId, beforeId, since, until }: ChunkRange): Condition => ({
  sql: 'id >= ? AND id < ? AND to_at >= ? AND from_at < ?',
  params: [fromId, beforeId, since, until],
});

/** Returns chunks in the order of their ids. @param also a further condition */
export async function listChunks(
  db: D1Database,
  range: ChunkRange,
  filter: AuditFilter,
  order: AuditOrder,
  limit: number,
  also: Condition = { sql: '1', params: [] },
): Promise<CallChunk[]> {
  const given = conditionsOf(filter).map(({ sql, value }) => ({ sql, params: [value] }));
  const conditions = [whereInRange(range), ...given, also];
  const { results } = await db
    .prepare(
      `SELECT * FROM call_chunks WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}
       ORDER BY id ${order === 'newest' ? 'DESC' : 'ASC'} LIMIT ?`,
    )
    .bind(...conditions.flatMap(({ params }) => params), limit)
    .all();
  return results.map(row => ChunkSchema.parse(row));
}

/** Returns the chunks after one id and up to another, in their order. */
export async function listChunksUpTo(
  db: D1Database,
  afterId: string,
  lastId: string,
  limit: number,
): Promise<CallChunk[]> {
  const { results } = await db
    .prepare('SELECT * FROM call_chunks WHERE id > ? AND id <= ? ORDER BY id LIMIT ?')
    .bind(afterId, lastId, limit)
    .all();
  return results.map(row => ChunkSchema.parse(row));
}

const HashSchema = z.object({ id: z.string(), hash: z.string() });

/** Returns ids and hashes of chunks after an id, up to where no other chunk can come before them. @param marginMs see `WRITABLE_MS` */
export async function listSealable(
  db: D1Database,
  afterId: string,
  limit: number,
  marginMs: number,
): Promise<z.infer<typeof HashSchema>[]> {
  const { now } = z
    .object({ now: z.number() })
    .parse(await db.prepare(`SELECT ${NOW} AS now`).first());
  const { results } = await db
    .prepare('SELECT id, hash FROM call_chunks WHERE id > ? AND id < ? ORDER BY id LIMIT ?')
    .bind(afterId, firstIdAt(now - marginMs), limit)
    .all();
  return results.map(row => HashSchema.parse(row));
}
