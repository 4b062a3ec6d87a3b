/**
 * The credit of one channel: how many bytes of data may still leave before the gateway says that it has taken some. One
 * reader, who waits for its turn; what was not acknowledged is never more than the window.
 */
import { WINDOW_BYTES } from '../../../src/upstream/connector/frames.ts';

export class FlowControl {
  #unacknowledged = 0;
  #isClosed = false;
  #wake = () => {};

  /**
   * Take bytes, at most a window of them, as soon as they are free.
   * @returns false where the credit was closed
   */
  async take(bytes: number): Promise<boolean> {
    while (!this.#isClosed && this.#unacknowledged + bytes > WINDOW_BYTES) {
      await new Promise<void>(resolve => (this.#wake = resolve));
    }
    if (this.#isClosed) return false;
    this.#unacknowledged += bytes;
    return true;
  }

  /** The gateway has taken bytes. Never more is given than was taken. */
  give(bytes: number): void {
    this.#unacknowledged = Math.max(0, this.#unacknowledged - bytes);
    this.#wake();
  }

  /** Nothing is given any more. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }
}
