/**
 * Counts calls without opening their chunks, where all calls of a chunk began in one part of a span: by the chunk's own counts. Only reads.
 */
import { z } from 'zod';
import { timeOfId } from '../../shared/util/time-id.ts';
import type { Count, CountSpan } from '../audit-count-store.ts';
import { AuditOutcomeSchema, type AuditOutcome } from '../audit-schema.ts';
import type { Condition } from '../audit-store.ts';
import { whereInRange, type ChunkRange } from './chunk-store.ts';

const LastSchema = z.object({ id: z.string() });
const CountSchema = z.object({
  part: z.number(),
  outcome: AuditOutcomeSchema,
  count: z.number(),
  slow: z.number(),
});

/** The condition for chunks that can be counted this way. It is never NULL, so that it can be negated. */
const whereWhole = ({ since, until, stepMs }: CountSpan): Condition => ({
  sql: `(from_at >= ? AND to_at < ? AND CAST((from_at - ?) / ? AS INTEGER) = CAST((to_at - ?) / ? AS INTEGER)
    AND json_extract(keys, '$.counts') IS NOT NULL)`,
  params: [since, until, since, stepMs, since, stepMs],
});

/** The condition for chunks that must be opened to be counted. */
export function whereNotWhole(span: CountSpan): Condition {
  const { sql, params } = whereWhole(span);
  return { sql: `NOT ${sql}`, params };
}

/**
 * Counts the calls in the newest chunks of a range that need not be opened.
 * @param outcome counts only calls with this outcome
 * @param most chunks to consider
 * @returns the counts, and the last chunk that was considered; undefined if the whole range was
 */
export async function countWhole(
  db: D1Database,
  range: ChunkRange,
  span: CountSpan,
  outcome: AuditOutcome | undefined,
  most: number,
): Promise<{ counts: Count[]; last: { id: string; at: number } | undefined }> {
  const inRange = whereInRange(range);
  const whole = whereWhole(span);
  const ofOutcome =
    outcome === undefined ? { sql: '1', params: [] } : { sql: 'each.key = ?', params: [outcome] };
  const [ends, counted] = await db.batch([
    db
      .prepare(`SELECT id FROM call_chunks WHERE ${inRange.sql} ORDER BY id DESC LIMIT 1 OFFSET ?`)
      .bind(...inRange.params, most - 1),
    db
      .prepare(
        `SELECT CAST((from_at - ?) / ? AS INTEGER) AS part, each.key AS outcome,
           sum(each.value ->> 0) AS count, sum(each.value ->> 1) AS slow
         FROM (SELECT from_at, to_at, keys FROM call_chunks WHERE ${inRange.sql} ORDER BY id DESC LIMIT ?),
           json_each(keys, '$.counts') AS each
         WHERE ${whole.sql} AND ${ofOutcome.sql} GROUP BY part, outcome`,
      )
      .bind(span.since, span.stepMs, ...inRange.params, most, ...whole.params, ...ofOutcome.params),
  ]);
  const [end] = (ends?.results ?? []).map(row => LastSchema.parse(row));
  const counts = (counted?.results ?? []).map(row => CountSchema.parse(row));
  return { counts, last: end && { id: end.id, at: timeOfId(end.id) ?? span.until } };
}
