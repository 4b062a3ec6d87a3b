/**
 * `/api/v1/budgets`: how many calls a principal, or all members of a group together, may make in a day. Create, list, get, edit, delete.
 */
import {
  BudgetQuerySchema,
  BudgetViewSchema,
  CreateBudgetSchema,
  UpdateBudgetSchema,
  type StoredBudget,
} from '../access/budgets/budget-schema.ts';
import type { Api, ApiPorts } from './frame.ts';
import { registerEdits, registerRecords } from './records.ts';

const created = { subject: { kind: 'group' as const, name: 'interns' }, calls_per_day: 2000 };

const resource = {
  path: '/api/v1/budgets',
  tag: 'access',
  name: 'Budget',
  noun: 'budget',
  phrase: 'a budget of calls',
  view: BudgetViewSchema.meta({ id: 'Budget' }),
  example: {
    id: '3f0c7c1e-5d0b-4c66-8a3e-90d2c6a1b7f5',
    ...created,
    used_today: 412,
    ends_at: '2026-11-03T00:00:00.000Z',
    revision: 1,
    created_at: '2026-11-02T09:00:00.000Z',
    updated_at: '2026-11-02T09:00:00.000Z',
  },
  create: {
    schema: CreateBudgetSchema.meta({ id: 'CreateBudget' }),
    example: created,
    description:
      'A call of a tool, a prompt or a resource that is sent counts against the budget of its caller and of each of its groups; if one ' +
      'of them is used up, calls are refused until midnight (UTC). A principal or a group has one budget at most. If a budget is ' +
      'edited, or deleted and made again, the calls of that day still count.',
  },
  list: {
    operationId: 'listBudgets',
    summary: 'List budgets of calls',
    key: 'budgets',
    page: 'BudgetPage',
    query: BudgetQuerySchema,
  },
};

const patch = {
  schema: UpdateBudgetSchema.meta({ id: 'UpdateBudget' }),
  example: { calls_per_day: 5000 },
  description: 'The change takes effect within a second; the calls of that day still count.',
};

/** Adds the routes. */
export function registerBudgets(api: Api, { budgets }: ApiPorts): void {
  const shown = { ...resource, toView: (budget: StoredBudget) => budgets.show(budget) };
  registerRecords(api, shown, budgets);
  registerEdits(api, shown, patch, budgets);
}
