/**
 * Single flight: of equal calls at one moment one leads and is sent, the others wait for its result. State is in memory only; if it is
 * lost, that costs a second call, never a wrong answer.
 *
 * Invariants: an in-flight call has one leader at a time; every waiting caller is answered, at the latest when its waiting time is over; a
 * leader that does not renew its lease is replaced by the next waiting caller.
 */
import type { Entry, Taken } from './cache-port.ts';

/** Lease of a leader, in milliseconds; it leads until then without a renewal. */
export const LEASE_MS = 10_000;
/** Lease of a leader that had been waiting, in milliseconds: it may have gone away meanwhile. */
export const CLAIM_MS = 2_000;
/** Most callers that wait for one in-flight call; further callers make their own calls. */
export const MAX_WAITERS = 1_000;

/** Most in-flight calls; at this number those are dropped whose lease is over and for which nobody waits. */
export const MAX_IN_FLIGHT = 10_000;

interface Waiter {
  id: string;
  answer(taken: Taken): void;
  timer: unknown;
}

interface InFlightCall {
  leader: string;
  /** When the leader's lease ends. */
  until: number;
  waiters: Waiter[];
  timer: unknown;
}

export interface SingleFlightPorts {
  now(): number;
  /** Runs a callback after a time; `cancel` takes the returned handle. */
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
}

export class SingleFlight {
  readonly #ports: SingleFlightPorts;
  readonly #singleFlight = new Map<string, InFlightCall>();

  constructor(ports: SingleFlightPorts) {
    this.#ports = ports;
  }

  /**
   * Joins the in-flight call of a key.
   * @param id the caller's own, a new one for each call
   * @param waitMs how long the caller waits at most
   */
  join(key: string, id: string, waitMs: number): Taken | Promise<Taken> {
    const inFlight = this.#singleFlight.get(key);
    if (!inFlight && !this.#hasRoom()) return { kind: 'alone' };
    if (!inFlight || (inFlight.waiters.length === 0 && inFlight.until <= this.#ports.now())) {
      this.#lead(key, { leader: '', until: 0, waiters: [], timer: undefined }, id, LEASE_MS);
      return { kind: 'lead', mustClaim: false };
    }
    if (inFlight.waiters.length >= MAX_WAITERS) return { kind: 'alone' };
    const { promise, resolve } = Promise.withResolvers<Taken>();
    const timer = this.#ports.after(waitMs, () => this.leave(key, id));
    inFlight.waiters.push({ id, answer: resolve, timer });
    if (inFlight.waiters.length === 1) this.#watch(key, inFlight);
    return promise;
  }

  /** Renews the leader's lease. */
  renew(key: string, id: string): void {
    const inFlight = this.#singleFlight.get(key);
    if (inFlight?.leader === id) inFlight.until = this.#ports.now() + LEASE_MS;
  }

  /** The leader's call has returned. @param entry its result; undefined if nobody else may have it */
  land(key: string, id: string, entry: Entry | undefined): void {
    const inFlight = this.#singleFlight.get(key);
    if (inFlight?.leader !== id) return;
    this.#singleFlight.delete(key);
    this.#ports.cancel(inFlight.timer);
    for (const waiter of inFlight.waiters) {
      this.#answer(waiter, entry ? { kind: 'entry', entry } : { kind: 'alone' });
    }
  }

  /** A caller gives up. If it was the leader, the next waiting caller leads. */
  leave(key: string, id: string): void {
    const inFlight = this.#singleFlight.get(key);
    if (!inFlight) return;
    if (inFlight.leader === id) return this.#pass(key, inFlight);
    const at = inFlight.waiters.findIndex(waiter => waiter.id === id);
    const [waiter] = at === -1 ? [] : inFlight.waiters.splice(at, 1);
    if (waiter) this.#answer(waiter, { kind: 'alone' });
  }

  #hasRoom(): boolean {
    if (this.#singleFlight.size < MAX_IN_FLIGHT) return true;
    const now = this.#ports.now();
    for (const [key, { waiters, until }] of this.#singleFlight) {
      if (waiters.length === 0 && until <= now) this.#singleFlight.delete(key);
    }
    return this.#singleFlight.size < MAX_IN_FLIGHT;
  }

  #pass(key: string, inFlight: InFlightCall): void {
    const next = inFlight.waiters.shift();
    if (!next) {
      this.#ports.cancel(inFlight.timer);
      this.#singleFlight.delete(key);
      return;
    }
    this.#lead(key, inFlight, next.id, CLAIM_MS);
    this.#answer(next, { kind: 'lead', mustClaim: true });
  }

  #lead(key: string, inFlight: InFlightCall, id: string, leaseMs: number): void {
    inFlight.leader = id;
    inFlight.until = this.#ports.now() + leaseMs;
    this.#singleFlight.set(key, inFlight);
    this.#watch(key, inFlight);
  }

  /** Times the leader's lease while callers wait for it. */
  #watch(key: string, inFlight: InFlightCall): void {
    this.#ports.cancel(inFlight.timer);
    inFlight.timer = undefined;
    if (inFlight.waiters.length === 0) return;
    inFlight.timer = this.#ports.after(Math.max(0, inFlight.until - this.#ports.now()), () => {
      if (this.#singleFlight.get(key) !== inFlight) return;
      if (inFlight.until > this.#ports.now()) this.#watch(key, inFlight);
      else this.#pass(key, inFlight);
    });
  }

  #answer(waiter: Waiter, taken: Taken): void {
    this.#ports.cancel(waiter.timer);
    waiter.answer(taken);
  }
}
