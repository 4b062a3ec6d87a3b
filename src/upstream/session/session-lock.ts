/**
 * Decides who opens an upstream session when many calls need it at once: the first gets a claim, the others wait until it is settled. A
 * claim that is not settled in time passes to the next waiter, so a request that died in the middle blocks nobody. No I/O but for its
 * timer.
 */

interface Claim {
  id: string;
  settled: Promise<void>;
  settle(): void;
}

export class UpstreamClaims {
  readonly #claims = new Map<string, Claim>();
  readonly #limitMs: number;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Returns a claim for `key`, or undefined after waiting for another caller's claim to be settled. */
  async claim(key: string): Promise<string | undefined> {
    const held = this.#claims.get(key);
    if (held) {
      await held.settled;
      return undefined;
    }
    let settle = () => {};
    const settled = new Promise<void>(resolve => (settle = resolve));
    const claim: Claim = { id: crypto.randomUUID(), settled, settle };
    this.#claims.set(key, claim);
    const timer = setTimeout(() => this.settle(key, claim.id), this.#limitMs);
    void settled.then(() => clearTimeout(timer));
    return claim.id;
  }

  /** Whether a claim is still the valid one. */
  holds(key: string, id: string): boolean {
    return this.#claims.get(key)?.id === id;
  }

  /** Ends a claim; returns false if it had run out, so its result must not be used. */
  settle(key: string, id: string): boolean {
    const claim = this.#claims.get(key);
    if (claim?.id !== id) return false;
    this.#claims.delete(key);
    claim.settle();
    return true;
  }
}
