/** A queue between a producer and one consumer that awaits the values in order. */
export class AsyncQueue<T> {
  readonly #values: T[] = [];
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  put(value: T): void {
    if (this.#ended) return;
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
      if (this.#values.length > 0) return this.#values.shift();
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return undefined;
      await new Promise<void>(resolve => (this.#wake = resolve));
      this.#wake = undefined;
    }
  }
}
