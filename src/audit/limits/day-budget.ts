/** A budget of calls a day as a limit, and the object that counts against it. */
import type { NamedLimit } from './token-bucket.ts';
import type { Lease, LeaseRequest } from './token-lease.ts';

/** The object that counts the calls of a budget, as a Worker sees it. */
export interface BudgetShard {
  /** Tokens of this day. @param name of the object, which says whose budget it is */
  drawBudget(name: string, request: LeaseRequest): Promise<Lease>;
  /** Tokens of a lease were not spent. */
  giveBackBudget(id: string, unspent: number): Promise<void>;
  /** A call did not leave whose token was spent. @param id UUID; the same where it is told again */
  refundBudget(id: string, day: number): Promise<void>;
  /** Calls of this day. */
  budgetUsed(): Promise<number>;
}

/** The limit that a budget is; its name tells budgets apart that were edited. */
export const toDayLimit = (callsPerDay: number): NamedLimit => ({
  name: `day ${callsPerDay}`,
  perMinute: 0,
  burst: callsPerDay,
  isDaily: true,
});
