/**
 * AuditLog: the calls and rate limits of one principal. Owns the token buckets and the open rows of the principal's calls, ends abandoned
 * calls, numbers and chains ended calls, exports them to the database and prunes old rows there. The object named `calls:{principal}`
 * serves a principal, `budget:...` counts a budget's calls of a day, and `admin` prunes the chains of administrative changes.
 *
 * Invariants: what `begin` admits is durable; two concurrent calls never get the same token; a call ends exactly once; the methods are
 * reachable only through the binding.
 */
import { DurableObject } from 'cloudflare:workers';
import { configOf } from '../config.ts';
import { DAY_MS, dayOf } from '../shared/util/utc-day.ts';
import { notifyBudgetReached, notifyDenials } from './events-of.ts';
import { DayBudget } from '../audit/limits/day-budget-store.ts';
import { BucketStore } from '../audit/limits/bucket-store.ts';
import { LeaseBook } from '../audit/limits/lease-book.ts';
import type { Lease, LeaseRequest } from '../audit/limits/token-lease.ts';
import { AdminAudit } from '../audit/admin-audit.ts';
import { CallExport } from '../audit/calls/call-export.ts';
import {
  LEASE_MS,
  type Admission,
  type CallBeginning,
  type CallEnd,
  type KeptChain,
} from '../audit/calls/call-schema.ts';
import { CallStore } from '../audit/calls/call-store.ts';
import { KeptChains } from '../audit/kept-chain-store.ts';
import { logFailure } from '../telemetry/failure-line.ts';
import { pruneUsage } from '../audit/usage/usage-roll-up.ts';
import { prune, shardsOf } from '../audit/pruning.ts';

/** Retry delay for a limited call whose `begin` is repeated, in milliseconds: its bucket was checked a moment ago. */
const REPEATED_MS = 1_000;
/** Ended calls are gathered this long before they are exported, in milliseconds. */
const GATHER_MS = 1_000;
/** Delays before a failed export is retried, in milliseconds: doubled from the first to the last. */
const RETRY_MS = { first: 2_000, last: 30_000 };
/** An alarm that is this late was lost: on a full disk an alarm is neither stored nor run, and comes back after many minutes or never. */
const LOST_MS = 2_000;
/** From this many open calls on, calls that arrive in the same moment are written together. */
const BUSY_AT = 8;
/** Delay before an unfinished pruning continues, in milliseconds. */
const PRUNE_ON_MS = 5_000;

/** A call that waits to be written together with others. */
interface Waiting {
  beginning: CallBeginning;
  resolve(admission: Admission): void;
  reject(error: unknown): void;
}

export class AuditLog extends DurableObject<Env> {
  readonly #config = configOf(this.env);
  readonly #buckets = new BucketStore(this.ctx.storage.sql);
  readonly #leases = new LeaseBook(this.#buckets);
  readonly #calls = new CallStore(this.ctx.storage.sql);
  readonly #chains = new KeptChains(this.ctx.storage.sql);
  readonly #export = new CallExport({
    db: this.env.DB,
    calls: this.#calls,
    chains: this.#chains,
  });
  /** Set only in an object that counts a budget's calls. */
  #dayBudget: DayBudget | undefined;
  /** The day for which webhooks were notified that the budget is reached. */
  #notifiedDay: number | undefined;
  #principalId = this.#chains.principalId;
  readonly #waiting: Waiting[] = [];
  /** Approximate number of running calls. */
  #open = 0;
  /** Time the alarm is set to, as far as this instance knows. */
  #alarmAt = Number.POSITIVE_INFINITY;
  #retryMs = RETRY_MS.first;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = (await ctx.storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
    });
  }

  /**
   * Admits a call: spends its tokens and writes its row, or writes the row of its refusal. While many calls are running, those that arrive
   * in the same moment are written together.
   */
  begin(beginning: CallBeginning): Promise<Admission> {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>();
    this.#waiting.push({ beginning, resolve, reject });
    if (this.#open < BUSY_AT) this.#admitAll();
    else if (this.#waiting.length === 1) setTimeout(() => this.#admitAll(), 0);
    return promise;
  }

  /** Ends calls; the first end reported for a call counts. */
  end(ended: readonly CallEnd[]): void {
    this.#endAll(ended, Date.now());
  }

  /** Renews the lease of a running call. */
  renew(id: string): void {
    this.#calls.renew(id, Date.now() + LEASE_MS);
  }

  /** Leases tokens to an isolate, for calls that are not recorded before they leave. */
  lease(principalId: string, request: LeaseRequest): Lease {
    const now = Date.now();
    this.#own(principalId, now);
    return this.#leases.draw(request, now);
  }

  /** Takes back the unspent tokens of a lease. */
  giveBack(id: string, unspent: number): void {
    this.#leases.giveBack(id, unspent, Date.now());
  }

  /** Leases tokens of a daily budget to an isolate. @param name of this object */
  drawBudget(name: string, request: LeaseRequest): Lease {
    const now = Date.now();
    const lease = this.#budget.draw(request, now);
    const isReached = lease.retryAfterMs !== undefined && this.#notifiedDay !== dayOf(now);
    if (isReached) this.ctx.waitUntil(this.#notifyBudgetReached(name, request, now));
    return lease;
  }

  /** Notifies webhooks once a day. If that fails, the next refused call tries again. */
  async #notifyBudgetReached(name: string, { limits }: LeaseRequest, now: number): Promise<void> {
    this.#notifiedDay = dayOf(now);
    const calls = limits[0]?.burst ?? 0;
    if (!(await notifyBudgetReached(this.env, name, calls, now))) this.#notifiedDay = undefined;
  }

  /** Takes back the unspent tokens of a daily lease. */
  giveBackBudget(id: string, unspent: number): void {
    this.#budget.giveBack(id, unspent, Date.now());
  }

  /** Refunds a call that was counted in a day but did not leave. */
  refundBudget(id: string, day: number): void {
    this.#budget.refund(id, day);
  }

  /** Number of calls counted today. */
  budgetUsed(): number {
    return this.#budget.used(Date.now());
  }

  get #budget(): DayBudget {
    return (this.#dayBudget ??= new DayBudget(this.ctx.storage.sql));
  }

  /** Exports ended calls to the database. @returns what this object knows of the chain of a shard */
  async keep(shard: string): Promise<KeptChain> {
    // Rows that the database did not take show up when the chains are compared.
    await this.#exportCalls().catch(() => {});
    const exported = this.#chains.find('exported');
    return { exported, pruned: this.#chains.find(`pruned:${shard}`) };
  }

  /**
   * Does the work of the alarm, in case the alarm was lost.
   * @throws Error where the database or the object cannot be written
   */
  async settle(): Promise<void> {
    this.#endForgotten(Date.now());
    await this.#exportCalls();
    for (const at of [this.#calls.nextLeaseEnd(), this.#chains.pruneAt]) {
      if (at !== undefined) this.#wakeAt(at);
    }
  }

  /** Schedules pruning if none is scheduled. */
  wake(): void {
    if (this.#chains.pruneAt === undefined) this.#schedulePruning(Date.now());
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = Number.POSITIVE_INFINITY;
    const now = Date.now();
    this.#endForgotten(now);
    this.#buckets.sweep(now);
    let exportAt: number | undefined;
    try {
      await this.#exportCalls();
      this.#retryMs = RETRY_MS.first;
    } catch (thrown) {
      // Nothing is lost: the rows stay here until the database has them.
      await logFailure(this.env.LINES, this.#config, 'audit', now, thrown);
      exportAt = Date.now() + this.#retryMs;
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.last);
    }
    if ((this.#chains.pruneAt ?? Number.POSITIVE_INFINITY) <= now) await this.#prune(now);
    for (const at of [exportAt, this.#calls.nextLeaseEnd(), this.#chains.pruneAt]) {
      if (at !== undefined) this.#wakeAt(at);
    }
  }

  /** Exports the calls that have ended. That also adds them up, and some may have been denied. @throws Error as `CallExport` */
  async #exportCalls(): Promise<void> {
    if (await this.#export.run()) await notifyDenials(this.env);
  }

  #admitAll(): void {
    const now = Date.now();
    for (const { beginning, resolve, reject } of this.#waiting.splice(0)) {
      try {
        resolve(this.#admit(beginning, now));
      } catch (error) {
        reject(error);
      }
    }
  }

  #admit({ principalId, call, refused, limits, ended }: CallBeginning, now: number): Admission {
    this.#own(principalId, now);
    this.#endAll(ended, now);
    // The Worker repeats the request if it got no response.
    if (!this.#calls.insert(call, now + LEASE_MS, refused)) {
      return this.#calls.isLimited(call.id) ? { retryAfterMs: REPEATED_MS } : {};
    }
    const retryAfterMs = this.#leases.take(limits, now);
    const isLimited = retryAfterMs !== undefined;
    if (isLimited) this.#calls.limit(call.id);
    const isOver = refused !== undefined || isLimited;
    if (!isOver) this.#open += 1;
    this.#wakeAt(now + (isOver ? GATHER_MS : LEASE_MS));
    return isLimited ? { retryAfterMs } : {};
  }

  #own(principalId: string, now: number): void {
    if (this.#principalId !== undefined) return;
    this.#principalId = principalId;
    this.#chains.principalId = principalId;
    this.#schedulePruning(now + DAY_MS);
  }

  #endAll(ended: readonly CallEnd[], now: number): void {
    let isAny = false;
    for (const end of ended) {
      if (!this.#calls.end(end)) continue;
      isAny = true;
      this.#open = Math.max(0, this.#open - 1);
    }
    if (isAny) this.#wakeAt(now + GATHER_MS);
  }

  #endForgotten(now: number): void {
    this.#calls.endForgotten(now);
    if (this.#calls.nextLeaseEnd() === undefined) this.#open = 0;
  }

  async #prune(now: number): Promise<void> {
    const { retentionDays } = this.#config.audit;
    const parts = {
      db: this.env.DB,
      adminAudit: new AdminAudit(this.env.DB),
      chains: this.#chains,
    };
    let isMore = false;
    try {
      for (const shard of retentionDays === 0 ? [] : shardsOf(this.#principalId)) {
        isMore = (await prune(parts, shard, now - retentionDays * DAY_MS)) || isMore;
      }
      if (retentionDays > 0 && this.#principalId === undefined) {
        await pruneUsage(this.env.DB, now - retentionDays * DAY_MS);
      }
    } catch (thrown) {
      isMore = true;
      await logFailure(this.env.LINES, this.#config, 'audit', now, thrown);
    }
    this.#schedulePruning(Date.now() + (isMore ? PRUNE_ON_MS : DAY_MS));
  }

  #schedulePruning(at: number): void {
    this.#chains.pruneAt = at;
    this.#wakeAt(at);
  }

  /** Sets the alarm to this time, unless it is already set to an earlier one. */
  #wakeAt(at: number): void {
    const isLost = this.#alarmAt < Date.now() - LOST_MS;
    if (at >= this.#alarmAt && !isLost) return;
    this.#alarmAt = at;
    void this.ctx.storage.setAlarm(at);
  }
}
