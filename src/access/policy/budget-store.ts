/** The `budgets` table as the registry reads it. Reads return parsed rows. */
import { z } from 'zod';
import { BudgetSubjectColumnsSchema, toBudgetSubject, type Budget } from './budget.ts';

const RowSchema = z
  .object({ id: z.string(), ...BudgetSubjectColumnsSchema.shape, calls_per_day: z.number() })
  .transform((row): Budget => ({
    id: row.id,
    subject: toBudgetSubject(row),
    callsPerDay: row.calls_per_day,
  }));

const SELECT = 'SELECT id, subject_kind, subject, calls_per_day FROM budgets';

export const selectBudgets = (db: D1Database): D1PreparedStatement => db.prepare(SELECT);

/** Parses rows. @throws ZodError where one cannot be read: then no decision is made at all */
export const parseBudgets = (rows: readonly unknown[]): Budget[] =>
  rows.map(row => RowSchema.parse(row));
