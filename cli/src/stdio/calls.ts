/**
 * The host's requests that wait for a response, by id, and the amount of messages that the gateway has not accepted yet: above a limit, the
 * host is not read until the gateway has accepted some.
 */
import type { Era, RequestId } from '../../../src/shared/protocol.ts';

/** One request, or all requests of a batch. */
export interface Call {
  readonly era: Era;
  readonly method: string;
  /** Hangs up on the gateway. */
  readonly abort: AbortController;
  /** The host no longer wants the response. */
  isCancelled: boolean;
  isAnswered: boolean;
  /** A part of the response was passed on. */
  hasBegun: boolean;
}

/** Most requests waiting for a response at once. */
const MAX_CALLS = 1_000;
/** Most messages, and most characters, sent but not yet accepted. */
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

  /** Registers a call until `release`. */
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
   * Runs work that never throws, and tracks it until it ends.
   * @param chars length of its message, which counts until `work` calls `takenOver`
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

  /** Resolves when the host may be read again. */
  async ready(): Promise<void> {
    while (this.#isCrowded()) await Promise.race(this.#onWay.keys());
  }

  /** Resolves when no work is left. */
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
