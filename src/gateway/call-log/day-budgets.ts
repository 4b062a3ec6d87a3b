/**
 * Counts a call against the budgets of its caller and of the caller's groups. Each budget costs a token, which the isolate holds or the
 * object that counts for the subject hands out. A caller without a budget costs nothing.
 *
 * Invariant: a call that is not sent counts against none of them.
 */
import { budgetObjectOf, type Budget } from '../../access/policy/budget.ts';
import { toDayLimit, type BudgetShard } from '../../audit/limits/day-budget.ts';
import type { LeaseRequest } from '../../audit/limits/token-lease.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { dayOf } from '../../shared/util/utc-day.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import { LeasedLimits } from './leased-limits.ts';

export interface DayBudgetsPorts {
  budgetShardOf(name: string): BudgetShard;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** Waits before the refund for a call that was not sent is tried again, in milliseconds. */
const REFUND_MS = [250, 1_000, 0];

export class DayBudgets {
  readonly #ports: DayBudgetsPorts;
  readonly #tokens: LeasedLimits;

  constructor(ports: DayBudgetsPorts) {
    this.#ports = ports;
    const shardOf = (name: string) => {
      const shard = ports.budgetShardOf(name);
      return {
        lease: (named: string, request: LeaseRequest) => shard.drawBudget(named, request),
        giveBack: (id: string, unspent: number) => shard.giveBackBudget(id, unspent),
      };
    };
    this.#tokens = new LeasedLimits({ ...ports, shardOf });
  }

  /**
   * Counts a call that is about to be sent.
   * @throws PorticoError `budget_reached`; `busy` if that cannot be found out
   */
  async take(budgets: readonly Budget[], waitUntil: WaitUntil): Promise<void> {
    const taken: Budget[] = [];
    try {
      for (const budget of budgets) {
        const limits = [toDayLimit(budget.callsPerDay)];
        const retryAfterMs = await this.#tokens.take(
          budgetObjectOf(budget.subject),
          limits,
          waitUntil,
        );
        if (retryAfterMs !== undefined) throw reached(budget, retryAfterMs, this.#ports.now());
        taken.push(budget);
      }
    } catch (refusal) {
      this.refund(taken, waitUntil);
      throw refusal;
    }
  }

  /** Takes back a call that was counted a moment ago and is not sent. */
  refund(budgets: readonly Budget[], waitUntil: WaitUntil): void {
    const day = dayOf(this.#ports.now());
    for (const { subject } of budgets) waitUntil(this.#refund(budgetObjectOf(subject), day));
  }

  async #refund(name: string, day: number): Promise<void> {
    const id = crypto.randomUUID();
    for (const ms of REFUND_MS) {
      try {
        return await this.#ports.budgetShardOf(name).refundBudget(id, day);
      } catch {
        await this.#ports.wait(ms);
      }
    }
  }
}

function reached({ subject, callsPerDay }: Budget, ms: number, now: number): PorticoError {
  const whose = subject.kind === 'group' ? `The group ${subject.name}` : 'You';
  const verb = subject.kind === 'group' ? 'has' : 'have';
  // To the minute: midnight, however much the clocks of objects differ.
  const endsAt = new Date(Math.round((now + ms) / 60_000) * 60_000).toISOString();
  const retryAfterSeconds = Math.max(1, Math.ceil(ms / 1_000));
  const calls = callsPerDay === 1 ? 'call' : 'calls';
  return new PorticoError(
    'budget_reached',
    `${whose} ${verb} used up the budget of ${callsPerDay} ${calls} a day; the next day begins at ${endsAt}`,
    { retryAfterSeconds, data: { retryAfter: retryAfterSeconds } },
  );
}
