/** The `budgets` table as administrators read and write it: the conditions for its rows. */
import { allOf, type EditedTable } from '../../records/record-store.ts';
import { whenSubjectExists } from '../policy/rule-store.ts';
import { StoredBudgetSchema, type StoredBudget } from './budget-schema.ts';

/** Most budgets of a deployment: each isolate holds all of them. */
export const MAX_BUDGETS = 200;

const hasRoom = { sql: `(SELECT count(*) FROM budgets) < ${MAX_BUDGETS}`, params: [] };
const isOnly = ({ subject_kind: kind, subject }: StoredBudget) => ({
  sql: 'NOT EXISTS (SELECT 1 FROM budgets WHERE subject_kind = ? AND subject = ?)',
  params: [kind, subject],
});

export const BUDGETS: EditedTable<StoredBudget> = {
  name: 'budgets',
  row: StoredBudgetSchema,
  edited: ['calls_per_day', 'updated_at'],
  whenPossible: budget => allOf(hasRoom, isOnly(budget), whenSubjectExists(budget)),
};

/** Whether the subject has a budget already. */
export async function hasBudget(
  db: D1Database,
  { subject_kind: kind, subject }: StoredBudget,
): Promise<boolean> {
  const found = await db
    .prepare('SELECT 1 FROM budgets WHERE subject_kind = ? AND subject = ?')
    .bind(kind, subject)
    .first();
  return found !== null;
}
