/** Budgets: how many calls a principal, or all members of a group together, may make in a day (UTC). Pure. */
import { z } from 'zod';
import { GroupSchema } from './rule.ts';

/** Whom a budget is for. */
export const BudgetSubjectSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('group'), name: GroupSchema }),
  z.strictObject({ kind: z.literal('principal'), id: z.string().min(1).max(100) }),
]);
export type BudgetSubject = z.infer<typeof BudgetSubjectSchema>;

/** A subject as columns of the table. */
export const BudgetSubjectColumnsSchema = z.object({
  subject_kind: z.enum(['group', 'principal']),
  /** Name of the group or id of the principal. */
  subject: z.string(),
});
type BudgetSubjectColumns = z.infer<typeof BudgetSubjectColumnsSchema>;

/** A budget that calls are counted against. */
export interface Budget {
  id: string;
  subject: BudgetSubject;
  callsPerDay: number;
}

export const toBudgetSubject = ({ subject_kind: kind, subject }: BudgetSubjectColumns) =>
  BudgetSubjectSchema.parse(kind === 'group' ? { kind, name: subject } : { kind, id: subject });

export const toBudgetSubjectColumns = (subject: BudgetSubject): BudgetSubjectColumns => ({
  subject_kind: subject.kind,
  subject: keyOf(subject),
});

/** Name of the object that counts the calls of a subject. */
export const budgetObjectOf = (subject: BudgetSubject): string =>
  `budget:${subject.kind}:${keyOf(subject)}`;

/** Returns the budgets that a principal's calls count against, its own first; undefined where there are none. */
export function budgetsOf(
  { principalId, groups }: { principalId: string; groups: readonly string[] },
  budgets: readonly Budget[] = [],
): readonly Budget[] | undefined {
  const own = budgets.filter(({ subject }) =>
    subject.kind === 'principal' ? subject.id === principalId : groups.includes(subject.name),
  );
  if (own.length === 0) return undefined;
  return own.toSorted((a, b) => rankOf(a.subject) - rankOf(b.subject));
}

const keyOf = (subject: BudgetSubject): string =>
  subject.kind === 'group' ? subject.name : subject.id;
const rankOf = ({ kind }: BudgetSubject): number => (kind === 'principal' ? 0 : 1);
