/**
 * Event streams that stay open, counted for an isolate and for each principal in it: a GET of a legacy session, `/sse`, and
 * `subscriptions/listen`. Each costs a socket, an object that is told of every change and a look at the caller's lists, so one beyond
 * the bound is refused at once, before anything is made for it.
 *
 * Invariant: the count is that of the streams that were opened and not released, whatever ended them.
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
   * Wait until a stream that is counted may be opened.
   * @returns to be called when it is open, or never will be; does nothing but once
   * @throws PorticoError `busy`
   */
  turn(principalId: string): Promise<() => void> {
    return this.#turns.wait(principalId);
  }

  /**
   * A stream is to be opened.
   * @returns to be called when it is over; does nothing but once
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

/** Does something with a stream that is counted; where it fails there is none. */
export async function counted<T>(release: () => void, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    release();
    throw thrown;
  }
}
