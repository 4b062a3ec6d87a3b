/**
 * A daily budget (UTC) for a model. Before an attempt is sent it draws one call and its likely tokens; afterwards the draw is corrected to
 * what was used. A failed attempt counts as having used its draw, except for failures that surely use no tokens. One budget per purpose in
 * a deployment, shared by all callers.
 */
import { endOfDay, toDay } from '../shared/util/utc-day.ts';
import { ModelFailure, type ModelProblem } from './model-port.ts';
import { correctUsage, drawUsage, noteFailure, type Usage } from './usage-store.ts';

export interface BudgetOptions {
  db: D1Database;
  /** What the model is used for; each purpose has the whole budget. */
  purpose: string;
  /** What one day allows. */
  perDay: Usage;
  now(): number;
}

/**
 * Runs work within the budget.
 * @param likely tokens that the work will probably use
 * @param usedBy returns the tokens it used
 * @throws ModelFailure `budget` before the work, until the next day; whatever the work throws
 */
export type Budget = <T>(
  likely: number,
  work: () => Promise<T>,
  usedBy: (done: T) => number,
) => Promise<T>;

/** Failures for which the API counts no tokens. */
const USED_NOTHING: readonly ModelProblem[] = ['rate_limited', 'auth', 'no_key', 'not_found'];

export function createBudget({ db, purpose, perDay, now }: BudgetOptions): Budget {
  return async (likely, work, usedBy) => {
    const at = now();
    const day = toDay(at);
    if (!(await drawUsage(db, day, purpose, likely, perDay))) {
      throw new ModelFailure('budget', endOfDay(at) - at);
    }
    // What the model answered was paid for: a count that cannot be written now does not take it away.
    const correct = async (used: number) => {
      if (used !== likely) await correctUsage(db, day, purpose, used - likely).catch(() => {});
    };
    try {
      const done = await work();
      await correct(usedBy(done));
      return done;
    } catch (thrown) {
      if (thrown instanceof ModelFailure) {
        const { problem } = thrown;
        if (USED_NOTHING.includes(problem)) await correct(0);
        if (problem !== 'aborted')
          await noteFailure(db, day, purpose, problem, now()).catch(() => {});
      }
      throw thrown;
    }
  };
}
