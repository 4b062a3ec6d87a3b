/**
 * Work that may be wanted more often than it can be done: the first is done at once, what comes meanwhile waits for the next round, of the
 * same kind the last alone. After each round there is a pause as long as it took, so that whoever wants it all the time gets half of the
 * time at most.
 */

export interface CoalescingOptions<T, R> {
  /** One round. */
  work(values: readonly T[]): Promise<R>;
  /** Shortest pause after a round, in milliseconds. */
  pauseMs: number;
  /** What waits at most, by number and by weight; of more the rest is dropped. */
  most: number;
  mostWeight: number;
  weightOf(value: T): number;
  wait(ms: number): Promise<unknown>;
}

export class Coalescing<T, R> {
  readonly #options: CoalescingOptions<T, R>;
  #waiting = new Map<string, T>();
  #weight = 0;
  #next = Promise.withResolvers<R>();
  #isRunning = false;

  constructor(options: CoalescingOptions<T, R>) {
    this.#options = options;
  }

  /**
   * Have something done.
   * @param kind of the same one the last value counts
   * @returns what the round gave, in which it was done
   */
  add(kind: string, value: T): Promise<R> {
    const { most, mostWeight, weightOf } = this.#options;
    const former = this.#waiting.get(kind);
    const more = weightOf(value) - (former === undefined ? 0 : weightOf(former));
    const fits = this.#waiting.size === 0 || this.#weight + more <= mostWeight;
    if (fits && (former !== undefined || this.#waiting.size < most)) {
      // In the order of what was wanted last.
      this.#waiting.delete(kind);
      this.#waiting.set(kind, value);
      this.#weight += more;
    }
    const { promise } = this.#next;
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      const values = [...this.#waiting.values()];
      const { resolve, reject } = this.#next;
      this.#waiting = new Map();
      this.#weight = 0;
      this.#next = Promise.withResolvers<R>();
      const startedAt = Date.now();
      await this.#options.work(values).then(resolve, reject);
      await this.#options.wait(Math.max(this.#options.pauseMs, Date.now() - startedAt));
    }
    this.#isRunning = false;
  }
}
