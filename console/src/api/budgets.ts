/** Budgets: how many calls a principal, or all members of a group together, may make in a day. */
import type { Budget, BudgetPage, CreateBudget } from '../generated/types.gen.ts';
import { paged } from './paged.ts';
import { request } from './request.ts';

export const BUDGETS = ['budgets'];
const PATH = 'budgets';
/** Refresh interval: the used calls change with every call. */
const USED_MS = 15_000;

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

export const budgetsQuery = () => paged<BudgetPage>(BUDGETS, PATH, { every: USED_MS });

/** Reads the current state of a budget. */
export const readBudget = (id: string) => request<Budget>(pathOf(id));

export const createBudget = (body: CreateBudget) => request<Budget>(PATH, { method: 'POST', body });

/** Edits a budget. @throws ApiProblem 412 where it has another revision */
export const updateBudget = (id: string, calls: number, revision: number) =>
  request<Budget>(pathOf(id), { method: 'PATCH', body: { calls_per_day: calls }, revision });

export const deleteBudget = (id: string) => request<undefined>(pathOf(id), { method: 'DELETE' });
