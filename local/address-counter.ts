/**
 * Counts the requests of each address in a minute, against floods: inexact, in memory, and bounded. Addresses beyond the maximum number
 * share one count.
 */
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 50_000;
/** Key of the addresses for which there is no room. */
const OTHERS = '';

export class AddressCounter {
  readonly #perMinute: number;
  readonly #now: () => number;
  #began = 0;
  #counts = new Map<string, number>();

  /** @param perMinute 0 means no limit */
  constructor(perMinute: number, now: () => number = Date.now) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Counts a request. @returns seconds to wait, if the request exceeds the limit */
  take(address: string): number | undefined {
    if (this.#perMinute === 0) return undefined;
    const now = this.#now();
    // A clock that was set back must not prolong the minute.
    if (now < this.#began || now - this.#began >= WINDOW_MS) {
      this.#began = now;
      this.#counts.clear();
    }
    const isKnown = this.#counts.has(address) || this.#counts.size < MAX_ADDRESSES;
    const key = isKnown ? address : OTHERS;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (count <= this.#perMinute) return undefined;
    return Math.max(1, Math.ceil((this.#began + WINDOW_MS - now) / 1_000));
  }
}
