/** Budgets in the API: what it accepts and shows, and what is stored of a budget. */
import { z } from 'zod';
import { STAMP_COLUMNS, STAMP_VIEW, toStampView } from '../../records/record-schema.ts';
import {
  BudgetSubjectColumnsSchema,
  BudgetSubjectSchema,
  toBudgetSubject,
} from '../policy/budget.ts';

/** A row of `budgets`; times in milliseconds since the epoch. */
export const StoredBudgetSchema = z.object({
  id: z.string(),
  ...BudgetSubjectColumnsSchema.shape,
  calls_per_day: z.number(),
  ...STAMP_COLUMNS,
});
export type StoredBudget = z.infer<typeof StoredBudgetSchema>;

/** Most calls per day that a budget may allow. */
const MAX_CALLS = 1_000_000_000;

const CallsSchema = z.number().int().min(1).max(MAX_CALLS).meta({
  description: 'Calls that may be sent between two midnights (UTC)',
});

/** Body of `POST /api/v1/budgets`. */
export const CreateBudgetSchema = z.strictObject({
  subject: BudgetSubjectSchema,
  calls_per_day: CallsSchema,
});
export type CreateBudget = z.infer<typeof CreateBudgetSchema>;

/** Body of `PATCH /api/v1/budgets/{id}`; the subject cannot be changed. */
export const UpdateBudgetSchema = z.strictObject({ calls_per_day: CallsSchema.optional() });
export type UpdateBudget = z.infer<typeof UpdateBudgetSchema>;

/** Filters of the list; an absent filter matches every budget. */
export const BudgetQuerySchema = z.strictObject({
  subject_kind: BudgetSubjectColumnsSchema.shape.subject_kind.optional(),
  subject: z.string().min(1).max(100).optional().meta({
    description: 'Name of a group, or id of a principal',
  }),
});
export type BudgetQuery = z.infer<typeof BudgetQuerySchema>;

export const BudgetViewSchema = z.object({
  id: z.string(),
  subject: BudgetSubjectSchema,
  calls_per_day: z.number().int(),
  used_today: z.number().int().nullable().meta({
    description:
      'Calls used today (UTC), including those that gateways reserve for the next seconds; null if not known now',
  }),
  ends_at: z.iso
    .datetime()
    .meta({ description: 'When the next day begins and the budget starts again' }),
  ...STAMP_VIEW,
});

/** Converts a budget to its API form. */
export const toBudgetView = (
  budget: StoredBudget,
  usedToday: number | null,
  endsAt: number,
): z.infer<typeof BudgetViewSchema> => ({
  id: budget.id,
  subject: toBudgetSubject(budget),
  calls_per_day: budget.calls_per_day,
  used_today: usedToday,
  ends_at: new Date(endsAt).toISOString(),
  ...toStampView(budget),
});
