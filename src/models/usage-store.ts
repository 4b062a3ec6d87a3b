/** The table `llm_usage`: usage of the model by day and purpose. The statement that draws from the budget also enforces it. */
import { z } from 'zod';
import { dayBefore } from '../shared/util/utc-day.ts';
import { MODEL_PROBLEMS, type ModelProblem } from './model-port.ts';
import type { ModelView } from './usage-schema.ts';

const KEPT_DAYS = 31;

const RowSchema = z.object({
  purpose: z.string(),
  calls: z.number(),
  tokens: z.number(),
  failures: z.number(),
  last_problem: z.enum(MODEL_PROBLEMS).nullable(),
  last_failed_at: z
    .number()
    .nullable()
    .transform(at => (at === null ? null : new Date(at).toISOString())),
});
/** As shown in the API. */
export type PurposeUsage = ModelView['usage'][number];

export interface Usage {
  calls: number;
  tokens: number;
}

/**
 * Draws one call and its likely tokens from the budget of a day, and clears the last call's problem.
 * @returns whether enough was left
 */
export async function drawUsage(
  db: D1Database,
  day: string,
  purpose: string,
  tokens: number,
  most: Usage,
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO llm_usage (day, purpose, calls, tokens) SELECT ?1, ?2, 1, ?3 WHERE ?4 >= 1 AND ?3 <= ?5
       ON CONFLICT (day, purpose) DO UPDATE SET calls = calls + 1, tokens = tokens + excluded.tokens, last_problem = NULL
       WHERE calls + 1 <= ?4 AND tokens + excluded.tokens <= ?5`,
    )
    .bind(day, purpose, tokens, most.calls, most.tokens)
    .run();
  return meta.changes > 0;
}

/** Adds the difference between used and drawn tokens; deletes days older than `KEPT_DAYS`. */
export async function correctUsage(
  db: D1Database,
  day: string,
  purpose: string,
  difference: number,
): Promise<void> {
  const oldest = dayBefore(day, KEPT_DAYS);
  await db.batch([
    db
      .prepare('UPDATE llm_usage SET tokens = max(0, tokens + ?) WHERE day = ? AND purpose = ?')
      .bind(difference, day, purpose),
    db.prepare('DELETE FROM llm_usage WHERE day < ?').bind(oldest),
  ]);
}

/** Records a failed request. */
export async function noteFailure(
  db: D1Database,
  day: string,
  purpose: string,
  problem: ModelProblem,
  at: number,
): Promise<void> {
  await db
    .prepare(
      `UPDATE llm_usage SET failures = failures + 1, last_problem = ?, last_failed_at = ?
       WHERE day = ? AND purpose = ?`,
    )
    .bind(problem, at, day, purpose)
    .run();
}

/** Lists the usage on a day, by purpose. */
export async function listUsage(db: D1Database, day: string): Promise<PurposeUsage[]> {
  const { results } = await db
    .prepare(
      `SELECT purpose, calls, tokens, failures, last_problem, last_failed_at FROM llm_usage
       WHERE day = ? ORDER BY purpose`,
    )
    .bind(day)
    .all();
  return z.array(RowSchema).parse(results);
}

/** Returns the usage of one purpose on a day. */
export async function findUsage(db: D1Database, day: string, purpose: string): Promise<Usage> {
  const row = await db
    .prepare('SELECT calls, tokens FROM llm_usage WHERE day = ? AND purpose = ?')
    .bind(day, purpose)
    .first();
  return row === null
    ? { calls: 0, tokens: 0 }
    : z.object({ calls: z.number(), tokens: z.number() }).parse(row);
}
