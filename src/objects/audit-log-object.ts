/**
 * AuditLog: what one principal calls, and how much it may; named `budget:…`, how many calls of a day a budget has counted. Owns the token buckets and the open rows of its calls, closes those nobody
 * ends, numbers and chains what has ended, brings it to the database and prunes it there. Named `calls:{principal}`; the object named
 * `admin` prunes the chains of the acts.
 *
 * Invariants: what `begin` answered is durable; of two calls at once each gets its own token; a call has exactly one end; the methods
 * are reachable only through the binding.
 */
import { DurableObject } from 'cloudflare:workers';
import { configOf } from '../config.ts';
import { DAY_MS, dayOf } from '../shared/util/utc-day.ts';
import { tellBudgetReached, tellDenials } from './events-of.ts';
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
import { pruneUsage } from '../audit/usage/usage-roll-up.ts';
import { prune, shardsOf } from '../audit/pruning.ts';

/** When a call that was refused and asks again may come back, in milliseconds: its bucket was asked a moment ago. */
const REPEATED_MS = 1_000;
/** Ended calls are gathered this long before they go to the database, in milliseconds. */
const GATHER_MS = 1_000;
/** Waits before a failed export is tried again, in milliseconds: doubled from the first to the last. */
const RETRY_MS = { first: 2_000, last: 30_000 };
/** An alarm that is so late was lost: on a full disk it is neither kept nor called, and comes back after many minutes or never. */
const LOST_MS = 2_000;
/** From so many open calls on, calls wait for the others of their moment. */
const BUSY_AT = 8;
/** Wait before pruning goes on that was not finished, in milliseconds. */
const PRUNE_ON_MS = 5_000;

/** A call that waits for the others of its moment. */
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
  /** There only where this object counts the calls of a budget. */
  #dayBudget: DayBudget | undefined;
  /** The day of which it was told that the budget is reached. */
  #toldDay: number | undefined;
  #principalId = this.#chains.principalId;
  readonly #waiting: Waiting[] = [];
  /** How many calls are on their way, about. */
  #open = 0;
  /** The time the alarm is set to, as far as this instance knows. */
  #alarmAt = Number.POSITIVE_INFINITY;
  #retryMs = RETRY_MS.first;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = (await ctx.storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
    });
  }

  /**
   * A call wants to leave: it gets its tokens and its row, or the row of its refusal. Where many are on their way, those that come in
   * the same moment are written together.
   */
  begin(beginning: CallBeginning): Promise<Admission> {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>();
    this.#waiting.push({ beginning, resolve, reject });
    if (this.#open < BUSY_AT) this.#admitAll();
    else if (this.#waiting.length === 1) setTimeout(() => this.#admitAll(), 0);
    return promise;
  }

  /** Calls have ended; the first word on each counts. */
  end(ended: readonly CallEnd[]): void {
    this.#endAll(ended, Date.now());
  }

  /** A call goes on. */
  renew(id: string): void {
    this.#calls.renew(id, Date.now() + LEASE_MS);
  }

  /** Tokens for calls of an isolate that are not recorded before they leave. */
  lease(principalId: string, request: LeaseRequest): Lease {
    const now = Date.now();
    this.#own(principalId, now);
    return this.#leases.draw(request, now);
  }

  /** Tokens of a lease were not spent. */
  giveBack(id: string, unspent: number): void {
    this.#leases.giveBack(id, unspent, Date.now());
  }

  /** Tokens of a day, for calls of an isolate. @param name of this object */
  drawBudget(name: string, request: LeaseRequest): Lease {
    const now = Date.now();
    const lease = this.#budget.draw(request, now);
    const isReached = lease.retryAfterMs !== undefined && this.#toldDay !== dayOf(now);
    if (isReached) this.ctx.waitUntil(this.#tellReached(name, request, now));
    return lease;
  }

  /** Once a day; where it cannot be told now, the next call that is refused tells it. */
  async #tellReached(name: string, { limits }: LeaseRequest, now: number): Promise<void> {
    this.#toldDay = dayOf(now);
    const calls = limits[0]?.burst ?? 0;
    if (!(await tellBudgetReached(this.env, name, calls, now))) this.#toldDay = undefined;
  }

  /** Tokens of a day's lease were not spent. */
  giveBackBudget(id: string, unspent: number): void {
    this.#budget.giveBack(id, unspent, Date.now());
  }

  /** A call did not leave that was counted in a day. */
  refundBudget(id: string, day: number): void {
    this.#budget.refund(id, day);
  }

  /** Calls of this day. */
  budgetUsed(): number {
    return this.#budget.used(Date.now());
  }

  get #budget(): DayBudget {
    return (this.#dayBudget ??= new DayBudget(this.ctx.storage.sql));
  }

  /** Brings what has ended to the database. @returns what this object knows of a shard */
  async keep(shard: string): Promise<KeptChain> {
    // What the database does not take shows in the comparison.
    await this.#export.run().catch(() => {});
    const exported = this.#chains.find('exported');
    return { exported, pruned: this.#chains.find(`pruned:${shard}`) };
  }

  /**
   * Does what the alarm is for, which may have been lost.
   * @throws Error where the database or the object cannot be written
   */
  async settle(): Promise<void> {
    this.#endForgotten(Date.now());
    await this.#export.run();
    for (const at of [this.#calls.nextLeaseEnd(), this.#chains.pruneAt]) {
      if (at !== undefined) this.#wakeAt(at);
    }
  }

  /** See to it that old rows are looked for. */
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
      // What it brings to the database is added up there.
      if (await this.#export.run()) await tellDenials(this.env);
      this.#retryMs = RETRY_MS.first;
    } catch {
      // Nothing is lost: the rows stay here until the database has them.
      exportAt = Date.now() + this.#retryMs;
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.last);
    }
    if ((this.#chains.pruneAt ?? Number.POSITIVE_INFINITY) <= now) await this.#prune(now);
    for (const at of [exportAt, this.#calls.nextLeaseEnd(), this.#chains.pruneAt]) {
      if (at !== undefined) this.#wakeAt(at);
    }
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
    // The Worker asks again where it did not hear the answer.
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
    } catch {
      isMore = true;
    }
    this.#schedulePruning(Date.now() + (isMore ? PRUNE_ON_MS : DAY_MS));
  }

  #schedulePruning(at: number): void {
    this.#chains.pruneAt = at;
    this.#wakeAt(at);
  }

  /** The alarm comes at this time at the latest. */
  #wakeAt(at: number): void {
    const isLost = this.#alarmAt < Date.now() - LOST_MS;
    if (at >= this.#alarmAt && !isLost) return;
    this.#alarmAt = at;
    void this.ctx.storage.setAlarm(at);
  }
}
