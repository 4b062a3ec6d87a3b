/**
 * Counts the event streams that stay open, for an isolate and for each principal in it: a GET of a legacy session,
 * `/sse`, and `subscriptions/listen`. Each costs a socket, an object that is notified of every change, and a read of
 * the caller's lists. A stream beyond the limit is therefore refused at once, before anything is created for it.
 *
 * Invariant: the count is the number of streams that were opened and not released, however they ended.
 */
import { PorticoError } from '../errors/portico-error.ts';
import type { StreamLimits } from './limit-settings.ts';
import { OpeningTurns } from './opening-turns.ts';

const RETRY_AFTER_SECONDS = 10;

export class StreamCount {
  readonly #limits: StreamLimits;
  readonly #open = new Map<string, number>();
  readonly #turns = new OpeningTurns();
  #all = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Streams that are open. */
  get all(): number {
    return this.#all;
  }

  /**
   * Waits until a counted stream may be opened.
   * @returns to be called when the stream is open, or will never be; only the first call has an effect
   * @throws PorticoError `busy`
   */
  turn(principalId: string): Promise<() => void> {
    return this.#turns.wait(principalId);
  }

  /**
   * Counts a stream that is about to be opened.
   * @returns to be called when the stream has ended; only the first call has an effect
   * @throws PorticoError `busy`
   */
  open(principalId: string): () => void {
    const own = this.#open.get(principalId) ?? 0;
    const { isolateStreams, principalStreams } = this.#limits;
    if (own >= principalStreams || this.#all >= isolateStreams) {
      throw new PorticoError('busy', 'Too many streams are open; close one, or try again later', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#open.set(principalId, own + 1);
    this.#all += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all -= 1;
      const left = (this.#open.get(principalId) ?? 1) - 1;
      if (left === 0) this.#open.delete(principalId);
      else this.#open.set(principalId, left);
    };
  }
}

/** Runs work with a counted stream; if the work fails, the stream is released. */
export async function counted<T>(release: () => void, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    release();
    throw thrown;
  }
}
