/**
 * How many programs start at the same time. Each wants a whole processor while it starts, and sixty at once leave none for the gateway
 * beside them. A program that takes long gives up its turn, so that one which hangs, or downloads, holds up nobody for long.
 */
import { availableParallelism } from 'node:os';

/** At least so many, since some of a start is waiting. */
const MIN_AT_ONCE = 2;
/** A start that takes longer no longer counts, in milliseconds. */
const TURN_MS = 3_000;

export class StartQueue {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnce = Math.max(MIN_AT_ONCE, availableParallelism())) {
    this.#free = atOnce;
  }

  /** Waits for a turn, which ends when the result is called, or after a while. One that is aborted gets its turn at once. */
  async begin(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return () => {};
    if (this.#free === 0) await this.#wait(signal);
    else this.#free -= 1;
    let hasEnded = false;
    const end = () => {
      clearTimeout(timer);
      if (hasEnded) return;
      hasEnded = true;
      const next = this.#free < 0 ? undefined : this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    };
    const timer = setTimeout(end, TURN_MS);
    timer.unref();
    return end;
  }

  /** Whoever stops meanwhile has its turn handed on as soon as it comes. */
  #wait(signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => this.#leave(resolve), { once: true });
    });
  }

  #leave(resolve: () => void): void {
    const at = this.#waiting.indexOf(resolve);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    // It ends its turn like any other, which makes room for one more.
    this.#free -= 1;
    resolve();
  }
}
