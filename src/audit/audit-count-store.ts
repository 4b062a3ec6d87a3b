/** Counts rows of `audit_events` by time and outcome. Only reads. */
import { z } from 'zod';
import { AuditOutcomeSchema, type AuditFilter, type AuditOutcome } from './audit-schema.ts';
import { conditionsOf } from './audit-list-store.ts';

/** A span of time in equal parts. */
export interface CountSpan {
  /** Milliseconds since the epoch; `until` is exclusive. */
  since: number;
  until: number;
  stepMs: number;
  /** A call with at least this duration is slow, in milliseconds. */
  slowMs: number;
}

const CountSchema = z.object({
  part: z.number(),
  outcome: AuditOutcomeSchema,
  count: z.number(),
  slow: z.number(),
  since: z.number(),
});

/** The number of rows in one part of the span with one outcome. */
export interface Count {
  part: number;
  outcome: AuditOutcome;
  count: number;
  slow: number;
}

/**
 * Counts the newest rows that match.
 * @param most limit of rows; if it is reached, `countedSince` is the time since which all are counted
 */
export async function countEvents(
  db: D1Database,
  filter: AuditFilter,
  { since, stepMs, slowMs }: CountSpan,
  most: number,
): Promise<{ counts: Count[]; countedSince: number }> {
  const { sql, params } = conditionsOf(filter);
  const { results } = await db
    .prepare(
      `SELECT CAST((at - ?) / ? AS INTEGER) AS part, outcome, count(*) AS count, min(at) AS since,
         sum(CASE WHEN json_valid(detail) THEN coalesce(detail ->> '$.duration_ms' >= ?, 0) ELSE 0 END) AS slow
       FROM (SELECT at, outcome, detail FROM audit_events WHERE ${sql} ORDER BY at DESC LIMIT ?)
       GROUP BY part, outcome`,
    )
    .bind(since, stepMs, slowMs, ...params, most)
    .all();
  const rows = results.map(row => CountSchema.parse(row));
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  const isAll = total < most;
  const countedSince = isAll ? since : 1 + Math.min(...rows.map(row => row.since));
  return { counts: rows, countedSince };
}
