/** A map that drops the least recently used entry. Bounded by the number of entries, or by the weight of the values. */
export class Lru<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #most: number;
  readonly #weigh: (value: V) => number;
  #weight = 0;

  /** @param weigh weight of a value, always the same for one value; default: 1 */
  constructor(most: number, weigh: (value: V) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** A value that weighs more than the whole bound is not kept. */
  set(key: K, value: V): void {
    this.delete(key);
    const weight = this.#weigh(value);
    if (weight > this.#most) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#most) break;
      this.delete(oldest);
    }
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (this.#entries.delete(key)) this.#weight -= this.#weigh(value as V);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  get size(): number {
    return this.#entries.size;
  }
}
