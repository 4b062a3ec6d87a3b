/**
 * The requests of a host that wait for their answer, by id, and how much of what it said has not been taken over by the
 * gateway yet: past a bound the host is not read further until some has.
 */
import type { Era, RequestId } from '../../../src/shared/protocol.ts';

/** One request, or all of a batch. */
export interface Call {
  readonly era: Era;
  readonly method: string;
  /** Hangs up. */
  readonly abort: AbortController;
  /** The host does not want the answer any more. */
  isCancelled: boolean;
  isAnswered: boolean;
  /** Something of the answer has been passed on. */
  hasBegun: boolean;
}

/** Most requests that wait for an answer at once. */
const MAX_CALLS = 1_000;
/** Most messages, and most of their characters, that are on their way at once. */
const MAX_ON_WAY = 256;
const MAX_CHARS_ON_WAY = 33_554_432;

export class Calls {
  readonly #calls = new Map<RequestId, Call>();
  readonly #work = new Set<Promise<void>>();
  readonly #onWay = new Map<Promise<void>, number>();

  get isFull(): boolean {
    return this.#calls.size >= MAX_CALLS;
  }

  get(id: RequestId): Call | undefined {
    return this.#calls.get(id);
  }

  all(): Iterable<Call> {
    return this.#calls.values();
  }

  /** A call from now until `release`. */
  hold(ids: readonly RequestId[], era: Era, method: string): Call {
    const abort = new AbortController();
    const call = { era, method, abort, isCancelled: false, isAnswered: false, hasBegun: false };
    for (const id of ids) this.#calls.set(id, call);
    return call;
  }

  release(ids: readonly RequestId[]): void {
    for (const id of ids) this.#calls.delete(id);
  }

  /**
   * Do work that never throws, and remember it until it is done.
   * @param chars length of its message, which counts until `work` says that it was taken over
   */
  run(chars: number, work: (takenOver: () => void) => Promise<void>): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onWay.set(promise, chars);
    const takenOver = () => {
      this.#onWay.delete(promise);
      resolve();
    };
    const working = work(takenOver).finally(() => {
      takenOver();
      this.#work.delete(working);
    });
    this.#work.add(working);
  }

  /** Resolves when the host may be read further. */
  async ready(): Promise<void> {
    while (this.#isCrowded()) await Promise.race(this.#onWay.keys());
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  #isCrowded(): boolean {
    if (this.#onWay.size >= MAX_ON_WAY) return true;
    let chars = 0;
    for (const each of this.#onWay.values()) chars += each;
    return chars >= MAX_CHARS_ON_WAY;
  }
}
