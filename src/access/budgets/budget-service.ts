/**
 * Budgets: what their bodies mean. One for each subject, only for principals that exist, and few enough that every isolate can hold them
 * all.
 */
import type { BudgetShard } from '../../audit/limits/day-budget.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { endOfDay } from '../../shared/util/utc-day.ts';
import { whereEqual } from '../../records/record-store.ts';
import { patched } from '../../records/record-schema.ts';
import {
  createEditedRecords,
  type EditedRecords,
  type RecordPorts,
} from '../../records/records.ts';
import { budgetObjectOf, toBudgetSubject, toBudgetSubjectColumns } from '../policy/budget.ts';
import { findUnknownPrincipals } from '../principals/principal-store.ts';
import { BUDGETS, hasBudget, MAX_BUDGETS } from './budget-list-store.ts';
import {
  toBudgetView,
  type BudgetQuery,
  type CreateBudget,
  type StoredBudget,
  type UpdateBudget,
} from './budget-schema.ts';

export interface BudgetPorts extends RecordPorts {
  /** Marks the registry that this isolate remembers as too old. */
  invalidateRegistry(): void;
  /** Returns the object of this name, which counts calls. */
  budgetShardOf(name: string): Pick<BudgetShard, 'budgetUsed'>;
}

export interface Budgets extends EditedRecords<
  StoredBudget,
  CreateBudget,
  BudgetQuery,
  UpdateBudget
> {
  /** Returns the API form of a budget, with how much of it is used today. */
  show(budget: StoredBudget): Promise<ReturnType<typeof toBudgetView>>;
}

export function createBudgets(ports: BudgetPorts): Budgets {
  const { db, adminAudit, invalidateRegistry, budgetShardOf } = ports;
  const records = createEditedRecords<StoredBudget, CreateBudget, BudgetQuery, UpdateBudget>(
    { db, adminAudit },
    {
      table: BUDGETS,
      noun: 'budget',
      missing: 'No such budget',
      onChanged: () => invalidateRegistry(),
      make: ({ subject, ...given }, _servers, stamp) => ({
        ...stamp,
        ...toBudgetSubjectColumns(subject),
        ...given,
      }),
      edit: (before, patch) => patched(before, patch),
      async whyNot(budget) {
        if (await hasBudget(db, budget)) {
          return new PorticoError('conflict', 'A budget for this subject already exists');
        }
        const { subject_kind: kind, subject } = budget;
        const unknown = kind === 'principal' ? await findUnknownPrincipals(db, [subject]) : [];
        if (unknown.length > 0) return fieldProblem('subject.id', 'there is no such principal');
        return new PorticoError('conflict', `There are ${MAX_BUDGETS} budgets already`);
      },
      filter: ({ subject_kind, subject }) => whereEqual({ subject_kind, subject }),
      toDetail: ({ calls_per_day, ...columns }) => ({
        subject: toBudgetSubject(columns),
        calls_per_day,
      }),
    },
  );
  return {
    ...records,
    async show(budget) {
      const shard = budgetShardOf(budgetObjectOf(toBudgetSubject(budget)));
      const used = await shard.budgetUsed().catch(() => null);
      return toBudgetView(budget, used, endOfDay(Date.now()));
    },
  };
}
