/**
 * One call's time: ends at a deadline or when the client goes away, and says afterwards which it was. Progress may start it anew up to a
 * ceiling; while a question waits for a person it stands still, up to a limit of its own. `release` must be called when the call is over.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';

interface Entry {
  at: number;
  act: () => void;
}

/**
 * The timers of one request. To set and clear one of the platform's costs more than most steps of a call, so those of a request share
 * one, set for the earliest; of a call that ends soon the others are never set at all.
 */
export class RequestTimers {
  readonly #entries = new Set<Entry>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the platform's timer is over. */
  #at = Number.POSITIVE_INFINITY;

  /** Acts after a time, in milliseconds. @returns takes that back; does nothing once it has acted */
  set(ms: number, act: () => void): () => void {
    const entry = { at: Date.now() + ms, act };
    this.#entries.add(entry);
    if (entry.at < this.#at) this.#arm(entry.at, ms);
    return () => {
      this.#entries.delete(entry);
      if (this.#entries.size === 0) this.#disarm();
    };
  }

  #arm(at: number, ms: number): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(() => this.#act(at), ms);
  }

  #disarm(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#at = Number.POSITIVE_INFINITY;
  }

  /** @param now when the timer was to be over: a clock may be a little behind it */
  #act(now: number): void {
    this.#timer = undefined;
    this.#at = Number.POSITIVE_INFINITY;
    const due = [...this.#entries].filter(({ at }) => at <= now);
    for (const entry of due) this.#entries.delete(entry);
    const next = Math.min(...Array.from(this.#entries, ({ at }) => at));
    // What throws takes nothing from the others: they are set before anything acts, or act all the same.
    if (next < this.#at) this.#arm(next, Math.max(0, next - Date.now()));
    const thrown: unknown[] = [];
    for (const { act } of due) {
      try {
        act();
      } catch (error) {
        thrown.push(error);
      }
    }
    if (thrown.length > 0) throw thrown[0];
  }
}

export interface Deadline {
  readonly signal: AbortSignal;
  /** What to tell when a fetch or read failed: the deadline's own error, or the one given. */
  explain(otherwise: PorticoError): PorticoError;
  /** Begin the time anew, as far as the ceiling allows; a question that waits is not disturbed. */
  restart(): void;
  /**
   * Give a question `limitMs` instead. When the last one that waits is answered, the time begins
   * anew.
   * @returns to be called when the question is answered
   */
  hold(limitMs: number): () => void;
  /** End the call now, as where its client goes away. */
  end(): void;
  /** Acts at once when the call is ended before its time. @returns takes that back */
  onEnd(act: () => void): () => void;
  release(): void;
}

/** However often it begins anew, a call ends after this many times its timeout. */
const CEILING_FACTOR = 10;

/**
 * @param timeoutMs longest time from now, in milliseconds
 * @param client aborts when the client of the call goes away
 * @param timers of the request that the call is made for
 */
export function createDeadline(
  timeoutMs: number,
  client?: AbortSignal,
  timers = new RequestTimers(),
): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const endings = new Set<() => void>();
  let endsAt = Date.now() + timeoutMs * CEILING_FACTOR;
  let limitMs = timeoutMs;
  let timedOut = false;
  let isOver = false;
  let held = 0;
  const end = () => {
    if (signal.aborted) return;
    controller.abort();
    for (const act of endings) act();
  };
  const onTime = () => {
    timedOut = true;
    end();
  };
  let cancelTimer = timers.set(timeoutMs, onTime);
  if (client?.aborted) end();
  else client?.addEventListener('abort', end);

  function set(ms: number): void {
    cancelTimer();
    if (isOver) return;
    limitMs = ms;
    cancelTimer = timers.set(ms, onTime);
  }

  function restart(): void {
    if (held === 0) set(Math.max(0, Math.min(timeoutMs, endsAt - Date.now())));
  }

  return {
    signal,
    restart,
    explain: otherwise =>
      timedOut
        ? new PorticoError('upstream_timeout', `The server did not answer within ${limitMs} ms`)
        : otherwise,
    hold(questionMs) {
      endsAt += questionMs;
      held += 1;
      set(questionMs);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        held -= 1;
        restart();
      };
    },
    end,
    onEnd(act) {
      endings.add(act);
      return () => endings.delete(act);
    },
    release() {
      isOver = true;
      cancelTimer();
      client?.removeEventListener('abort', end);
    },
  };
}
