/** The table `skill_answers`: a model's answers about tools, so that it is never asked the same question twice. */
import { z } from 'zod';

/** Most answers kept; the oldest are deleted. */
const MAX_ANSWERS = 20_000;

/** Returns the stored answers, parsed from JSON, by question. */
export async function findAnswers(
  db: D1Database,
  questions: readonly string[],
): Promise<Map<string, unknown>> {
  const { results } = await db
    .prepare(
      'SELECT question, answer FROM skill_answers WHERE question IN (SELECT value FROM json_each(?))',
    )
    .bind(JSON.stringify(questions))
    .all();
  const RowsSchema = z.array(z.object({ question: z.string(), answer: z.string() }));
  return new Map(
    RowsSchema.parse(results).map(({ question, answer }) => [question, JSON.parse(answer)]),
  );
}

/** Stores answers, replacing earlier ones to the same questions. */
export function keepAnswers(
  db: D1Database,
  answers: readonly (readonly [question: string, answer: unknown])[],
  now: number,
): D1PreparedStatement[] {
  if (answers.length === 0) return [];
  const rows = JSON.stringify(
    answers.map(([question, answer]) => [question, JSON.stringify(answer)]),
  );
  return [
    db
      .prepare(
        `INSERT INTO skill_answers (question, answer, asked_at) SELECT value ->> 0, value ->> 1, ?1 FROM json_each(?2) WHERE true
         ON CONFLICT (question) DO UPDATE SET answer = excluded.answer, asked_at = excluded.asked_at`,
      )
      .bind(now, rows),
    db.prepare(
      `DELETE FROM skill_answers WHERE asked_at < (SELECT asked_at FROM skill_answers ORDER BY asked_at DESC LIMIT 1 OFFSET ${MAX_ANSWERS})`,
    ),
  ];
}
