/**
 * Requests of each address in a minute, for floods: inexact, in memory, and bounded. Of addresses beyond what it can hold all
 * together count as one.
 */
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 50_000;
/** Stands for those that there is no room for. */
const OTHERS = '';

export class AddressCounter {
  readonly #perMinute: number;
  readonly #now: () => number;
  #began = 0;
  #counts = new Map<string, number>();

  /** @param perMinute 0: no limit */
  constructor(perMinute: number, now: () => number = Date.now) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Count a request. @returns seconds to wait where it is one too many */
  take(address: string): number | undefined {
    if (this.#perMinute === 0) return undefined;
    const now = this.#now();
    if (now - this.#began >= WINDOW_MS) {
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
