/** Bounds what waits in a queue. */
interface QueueLimit<T> {
  /** Most weight of several values; one alone may be of any weight. */
  max: number;
  weigh(value: T): number;
  /** Whether a value is dropped if there is no room for it. */
  mayDrop(value: T): boolean;
  /** The error that ends the queue if there is no room, not even twice as much, for a value that must not be dropped. */
  full(): Error;
}

/** A queue between a producer and one consumer that awaits the values in order. */
export class AsyncQueue<T> {
  readonly #values: T[] = [];
  readonly #limit: QueueLimit<T> | undefined;
  #weight = 0;
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  constructor(limit?: QueueLimit<T>) {
    this.#limit = limit;
  }

  /** Adds a value, if there is room for it beside what waits already. */
  put(value: T): void {
    if (this.#ended) return;
    if (this.#limit) {
      const { max, weigh, mayDrop, full } = this.#limit;
      const weight = weigh(value);
      const isLost = mayDrop(value);
      if (weight > 0 && this.#weight > 0 && this.#weight + weight > (isLost ? max : 2 * max)) {
        return isLost ? undefined : this.end(full());
      }
      this.#weight += weight;
    }
    this.#values.push(value);
    this.#wake?.();
  }

  /** Ends the queue. An error reaches the consumer after the values before it. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  /** Returns the next value, or undefined at the end. For one consumer at a time. */
  async take(): Promise<T | undefined> {
    for (;;) {
      const value = this.#values.shift();
      if (value !== undefined) {
        this.#weight -= this.#limit?.weigh(value) ?? 0;
        return value;
      }
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return undefined;
      await new Promise<void>(resolve => (this.#wake = resolve));
      this.#wake = undefined;
    }
  }
}
