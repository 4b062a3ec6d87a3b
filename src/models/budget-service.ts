/**
 * A budget for a model: each attempt draws a call and its likely tokens from what a day of UTC allows, before it is sent, and is put right
 * by what it used. What failed is taken to have used what was drawn, but for what a model surely does not count. One budget for each
 * purpose in a deployment, whoever asks.
 */
import { endOfDay, toDay } from '../shared/util/utc-day.ts';
import { ModelFailure, type ModelProblem } from './model-port.ts';
import { correctUsage, drawUsage, noteFailure, type Usage } from './usage-store.ts';

export interface BudgetOptions {
  db: D1Database;
  /** What it is used for: each purpose has the whole budget. */
  purpose: string;
  /** What a day allows. */
  perDay: Usage;
  now(): number;
}

/**
 * @param likely tokens that the work will use
 * @param usedBy tokens it used
 * @throws ModelFailure `budget` before the work, until the next day; what the work throws
 */
export type Budget = <T>(
  likely: number,
  work: () => Promise<T>,
  usedBy: (done: T) => number,
) => Promise<T>;

/** Answers that no tokens were counted for. */
const USED_NOTHING: readonly ModelProblem[] = ['rate_limited', 'auth', 'no_key', 'not_found'];

export function createBudget({ db, purpose, perDay, now }: BudgetOptions): Budget {
  return async (likely, work, usedBy) => {
    const at = now();
    const day = toDay(at);
    if (!(await drawUsage(db, day, purpose, likely, perDay))) {
      throw new ModelFailure('budget', endOfDay(at) - at);
    }
    const correct = async (used: number) => {
      if (used !== likely) await correctUsage(db, day, purpose, used - likely);
    };
    try {
      const done = await work();
      await correct(usedBy(done));
      return done;
    } catch (thrown) {
      if (thrown instanceof ModelFailure) {
        const { problem } = thrown;
        if (USED_NOTHING.includes(problem)) await correct(0);
        if (problem !== 'aborted') await noteFailure(db, day, purpose, problem, now());
      }
      throw thrown;
    }
  };
}
