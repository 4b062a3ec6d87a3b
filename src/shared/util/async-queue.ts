/** A queue between one who puts values in and one who awaits them in order. */
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

  /** No more values; with an error the reader gets it after the values before it. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  /** The next value, or undefined at the end. For one reader at a time. */
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
