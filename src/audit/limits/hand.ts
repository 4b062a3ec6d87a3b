/**
 * What an isolate holds of one caller's tokens: leases, each until it ends, and how fast the caller uses them. Pure: `now` in, verdict
 * out.
 *
 * Invariants: a token is spent once and before its lease ends; a caller that has just begun gets nothing ahead, so calls at once take no
 * more than they use.
 */
import { HOLD_MS } from './token-lease.ts';

interface Held {
  id: string;
  tokens: number;
  endsAt: number;
}

/** Calls tell of later ones when they are so old, in milliseconds. */
const SETTLE_MS = 250;
/** The part of the calls that may come for which tokens are fetched, so that few are given back; and more when this part is left. */
const AHEAD = 3 / 4;
const LOW = 1 / 4;
/** A lease that was not ended so long after its time never will be, in milliseconds. */
const LOST_MS = 10_000;

export class Hand {
  /** The one that ends first is first. */
  #held: Held[] = [];
  /** Calls of a lease's time: those that tell of later ones, which fade, and those of the last moment. */
  #settled = 0;
  #fresh = 0;
  #freshSince = Number.NEGATIVE_INFINITY;

  /** Spend a token on a call that leaves now. @returns whether there was one */
  spend(now: number): boolean {
    const lease = this.#held.find(({ tokens, endsAt }) => tokens > 0 && endsAt > now);
    if (!lease) return false;
    lease.tokens -= 1;
    this.note(1, now);
    return true;
  }

  /** Calls have left by tokens that were drawn for them. */
  note(calls: number, now: number): void {
    this.#settle(now);
    this.#fresh += calls;
  }

  /** A lease came. */
  add(id: string, tokens: number, endsAt: number, now: number): void {
    this.#held = this.#held
      .filter(held => held.tokens > 0 && held.endsAt > now - LOST_MS)
      .concat({ id, tokens, endsAt })
      .toSorted((a, b) => a.endsAt - b.endsAt);
  }

  /** A lease is over. @returns the tokens that were not spent */
  end(id: string): number {
    const tokens = this.#held.find(lease => lease.id === id)?.tokens ?? 0;
    this.#held = this.#held.filter(lease => lease.id !== id);
    return tokens;
  }

  /** Tokens to fetch for the calls that may come while a lease lasts. */
  ahead(now: number): number {
    this.#settle(now);
    return Math.floor(this.#settled * AHEAD);
  }

  /** Whether it is time to fetch more, so that nobody waits for it. */
  isLow(now: number): boolean {
    const left = this.#left(now);
    return left > 0 && left <= this.ahead(now) * LOW;
  }

  /** Whether nothing is held, and nothing is known that would matter. */
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
