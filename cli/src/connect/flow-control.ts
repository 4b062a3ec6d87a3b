/**
 * The credit of one channel: how many bytes of data may be sent before the gateway acknowledges some. There is one sender at a time, and
 * unacknowledged bytes never exceed the window.
 */
import { WINDOW_BYTES } from '../../../src/upstream/connector/frames.ts';

export class FlowControl {
  #unacknowledged = 0;
  #isClosed = false;
  #wake = () => {};

  /**
   * Takes credit for up to a window of bytes as soon as it is available.
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

  /** The gateway acknowledged bytes; credit never exceeds the window. */
  give(bytes: number): void {
    this.#unacknowledged = Math.max(0, this.#unacknowledged - bytes);
    this.#wake();
  }

  /** Ends all waiting; no more credit is given. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }
}
