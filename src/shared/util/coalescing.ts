/**
 * Work that may be requested more often than it can run. The first request runs at once; requests that arrive meanwhile
 * wait for the next run, and of one kind only the last is kept. After each run there is a pause at least as long as the
 * run, so that constant requests take half of the time at most.
 */

export interface CoalescingOptions<T, R> {
  /** Does one run. */
  work(values: readonly T[]): Promise<R>;
  /** Shortest pause after a run, in milliseconds. */
  pauseMs: number;
  /** Limits on waiting values, by number and by weight; values beyond them are dropped. */
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
   * Requests work.
   * @param kind of waiting values of one kind only the last is kept
   * @returns the result of the run that included it
   */
  add(kind: string, value: T): Promise<R> {
    const { most, mostWeight, weightOf } = this.#options;
    const former = this.#waiting.get(kind);
    const more = weightOf(value) - (former === undefined ? 0 : weightOf(former));
    const fits = this.#waiting.size === 0 || this.#weight + more <= mostWeight;
    if (fits && (former !== undefined || this.#waiting.size < most)) {
      // Moves the kind to the end: values are ordered by their latest request.
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
