/** Bounds what waits in a queue. */
interface QueueLimit<T> {
  max: number;
  /** Returns the weight of a value; 0 for one that must not be dropped. */
  weigh(value: T): number;
}

const NO_LIMIT: QueueLimit<unknown> = { max: 0, weigh: () => 0 };

/** A queue between a producer and one consumer that awaits the values in order. */
export class AsyncQueue<T> {
  readonly #values: T[] = [];
  readonly #limit: QueueLimit<T>;
  #weight = 0;
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  constructor(limit: QueueLimit<T> = NO_LIMIT) {
    this.#limit = limit;
  }

  /** Adds a value; drops it if what waits already would weigh too much with it. */
  put(value: T): void {
    if (this.#ended) return;
    const weight = this.#limit.weigh(value);
    if (weight > 0 && this.#weight > 0 && this.#weight + weight > this.#limit.max) return;
    this.#weight += weight;
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
        this.#weight -= this.#limit.weigh(value);
        return value;
      }
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return undefined;
      await new Promise<void>(resolve => (this.#wake = resolve));
      this.#wake = undefined;
    }
  }
}
