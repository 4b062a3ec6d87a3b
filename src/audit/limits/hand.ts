/**
 * The tokens that an isolate holds for one caller: leases, each until it ends, and how fast the caller uses them. Pure:
 * `now` in, decision out.
 *
 * Invariants: a token is spent once and before its lease ends; a caller that has just begun gets no tokens ahead, so
 * simultaneous calls take no more than they use.
 */
import { HOLD_MS } from './token-lease.ts';

interface Held {
  id: string;
  tokens: number;
  endsAt: number;
}

/** Age at which calls count towards the forecast of later ones, in milliseconds. */
const SETTLE_MS = 250;
/**
 * Share of the forecast calls for which tokens are fetched ahead, so that few are given back; and the share of these at
 * which more are fetched.
 */
const AHEAD = 3 / 4;
const LOW = 1 / 4;
/** A lease that was not ended this long after its time never will be, in milliseconds. */
const LOST_MS = 10_000;

export class Hand {
  /** Ordered by end, the earliest first. */
  #held: Held[] = [];
  /** Calls within the time of a lease: those that the forecast is made of, which decay, and the most recent ones. */
  #settled = 0;
  #fresh = 0;
  #freshSince = Number.NEGATIVE_INFINITY;

  /** Spends a token on a call that leaves now. @returns whether there was one */
  spend(now: number): boolean {
    const lease = this.#held.find(({ tokens, endsAt }) => tokens > 0 && endsAt > now);
    if (!lease) return false;
    lease.tokens -= 1;
    this.note(1, now);
    return true;
  }

  /** Records calls that left with tokens drawn for them. */
  note(calls: number, now: number): void {
    this.#settle(now);
    this.#fresh += calls;
  }

  /** Adds a lease. */
  add(id: string, tokens: number, endsAt: number, now: number): void {
    this.#held = this.#held
      .filter(held => held.tokens > 0 && held.endsAt > now - LOST_MS)
      .concat({ id, tokens, endsAt })
      .toSorted((a, b) => a.endsAt - b.endsAt);
  }

  /** Ends a lease. @returns the tokens that were not spent */
  end(id: string): number {
    const tokens = this.#held.find(lease => lease.id === id)?.tokens ?? 0;
    this.#held = this.#held.filter(lease => lease.id !== id);
    return tokens;
  }

  /** Returns how many tokens to fetch for the calls that may come during a lease. */
  ahead(now: number): number {
    this.#settle(now);
    return Math.floor(this.#settled * AHEAD);
  }

  /** Whether to fetch more now, so that no call waits for it. */
  isLow(now: number): boolean {
    const left = this.#left(now);
    return left > 0 && left <= this.ahead(now) * LOW;
  }

  /** Whether it holds no tokens and no record of calls that still matters. */
  isIdle(now: number): boolean {
    return this.#left(now) === 0 && this.ahead(now) === 0 && this.#fresh === 0;
  }

  #left(now: number): number {
    return this.#held.reduce((sum, { tokens, endsAt }) => sum + (endsAt > now ? tokens : 0), 0);
  }

  #settle(now: number): void {
    const ms = now - this.#freshSince;
    if (ms < SETTLE_MS) return;
    this.#settled = (this.#settled + this.#fresh) * Math.exp(-ms / HOLD_MS);
    this.#fresh = 0;
    this.#freshSince = now;
  }
}
