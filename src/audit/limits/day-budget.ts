/** A budget of calls a day as a limit, and the interface of the object that counts them. */
import type { NamedLimit } from './token-bucket.ts';
import type { Lease, LeaseRequest } from './token-lease.ts';

/** The object that counts the calls of a budget, as a Worker sees it. */
export interface BudgetShard {
  /** Draws tokens of this day. @param name name of the object, which says whose budget it is */
  drawBudget(name: string, request: LeaseRequest): Promise<Lease>;
  /** Gives back the tokens of a lease that were not spent. */
  giveBackBudget(id: string, unspent: number): Promise<void>;
  /** Refunds the token of a call that did not leave. @param id UUID; the same if the message is repeated */
  refundBudget(id: string, day: number): Promise<void>;
  /** Returns the calls of this day. */
  budgetUsed(): Promise<number>;
}

/** Returns the limit for a budget; its name changes when the budget is edited. */
export const toDayLimit = (callsPerDay: number): NamedLimit => ({
  name: `day ${callsPerDay}`,
  perMinute: 0,
  burst: callsPerDay,
  isDaily: true,
});
