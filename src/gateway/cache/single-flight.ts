/**
 * Single flight: of equal calls at one moment one leads and goes out, the others wait for its result. In memory; what is lost with it
 * costs a second call, never a wrong answer.
 *
 * Invariants: a flight has one leader at a time; every caller that waits is answered, at the latest when its time is over; a leader that
 * does not say that it lives is replaced by the next that waits.
 */
import type { Entry, Taken } from './cache-port.ts';

/** How long a leader is believed without a word, in milliseconds. */
export const LEASE_MS = 10_000;
/** The same of one that waited before: it may have gone away meanwhile. */
export const CLAIM_MS = 2_000;
/** Most callers that wait for one flight; more go out by themselves. */
export const MAX_WAITERS = 1_000;

/** Most flights; past it those are forgotten whose leader is lost. */
export const MAX_FLIGHTS = 10_000;

interface Waiter {
  id: string;
  answer(taken: Taken): void;
  timer: unknown;
}

interface Flight {
  leader: string;
  /** Until when the leader is believed. */
  until: number;
  waiters: Waiter[];
  timer: unknown;
}

export interface FlightsPorts {
  now(): number;
  /** Calls back after a time; the handle takes it back. */
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
}

export class Flights {
  readonly #ports: FlightsPorts;
  readonly #flights = new Map<string, Flight>();

  constructor(ports: FlightsPorts) {
    this.#ports = ports;
  }

  /**
   * A caller joins the flight of a key.
   * @param id the caller's own, made anew for each call
   * @param waitMs how long it waits at most
   */
  join(key: string, id: string, waitMs: number): Taken | Promise<Taken> {
    const flight = this.#flights.get(key);
    if (!flight && !this.#hasRoom()) return { kind: 'alone' };
    if (!flight || (flight.waiters.length === 0 && flight.until <= this.#ports.now())) {
      this.#lead(key, { leader: '', until: 0, waiters: [], timer: undefined }, id, LEASE_MS);
      return { kind: 'lead', mustClaim: false };
    }
    if (flight.waiters.length >= MAX_WAITERS) return { kind: 'alone' };
    const { promise, resolve } = Promise.withResolvers<Taken>();
    const timer = this.#ports.after(waitMs, () => this.leave(key, id));
    flight.waiters.push({ id, answer: resolve, timer });
    if (flight.waiters.length === 1) this.#watch(key, flight);
    return promise;
  }

  /** The leader lives. */
  renew(key: string, id: string): void {
    const flight = this.#flights.get(key);
    if (flight?.leader === id) flight.until = this.#ports.now() + LEASE_MS;
  }

  /** The leader is back. @param entry its result; undefined where it is nobody else's */
  land(key: string, id: string, entry: Entry | undefined): void {
    const flight = this.#flights.get(key);
    if (flight?.leader !== id) return;
    this.#flights.delete(key);
    this.#ports.cancel(flight.timer);
    for (const waiter of flight.waiters) {
      this.#answer(waiter, entry ? { kind: 'entry', entry } : { kind: 'alone' });
    }
  }

  /** A caller wants no more of it: of a leader the next that waits takes the place. */
  leave(key: string, id: string): void {
    const flight = this.#flights.get(key);
    if (!flight) return;
    if (flight.leader === id) return this.#pass(key, flight);
    const at = flight.waiters.findIndex(waiter => waiter.id === id);
    const [waiter] = at === -1 ? [] : flight.waiters.splice(at, 1);
    if (waiter) this.#answer(waiter, { kind: 'alone' });
  }

  #hasRoom(): boolean {
    if (this.#flights.size < MAX_FLIGHTS) return true;
    const now = this.#ports.now();
    for (const [key, { waiters, until }] of this.#flights) {
      if (waiters.length === 0 && until <= now) this.#flights.delete(key);
    }
    return this.#flights.size < MAX_FLIGHTS;
  }

  #pass(key: string, flight: Flight): void {
    const next = flight.waiters.shift();
    if (!next) {
      this.#ports.cancel(flight.timer);
      this.#flights.delete(key);
      return;
    }
    this.#lead(key, flight, next.id, CLAIM_MS);
    this.#answer(next, { kind: 'lead', mustClaim: true });
  }

  #lead(key: string, flight: Flight, id: string, leaseMs: number): void {
    flight.leader = id;
    flight.until = this.#ports.now() + leaseMs;
    this.#flights.set(key, flight);
    this.#watch(key, flight);
  }

  /** Looks after the leader while somebody waits for it. */
  #watch(key: string, flight: Flight): void {
    this.#ports.cancel(flight.timer);
    flight.timer = undefined;
    if (flight.waiters.length === 0) return;
    flight.timer = this.#ports.after(Math.max(0, flight.until - this.#ports.now()), () => {
      if (this.#flights.get(key) !== flight) return;
      if (flight.until > this.#ports.now()) this.#watch(key, flight);
      else this.#pass(key, flight);
    });
  }

  #answer(waiter: Waiter, taken: Taken): void {
    this.#ports.cancel(waiter.timer);
    waiter.answer(taken);
  }
}
