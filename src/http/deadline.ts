/**
 * The deadline of one call: it ends when its time is up or when the client goes away, and reports afterwards which it was. Progress may
 * restart the time up to a ceiling; while a server request waits for a person, a limit of its own applies instead. `release` must be called
 * when the call is over.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';

interface Entry {
  at: number;
  act: () => void;
}

/**
 * The timers of one request. Setting and clearing a platform timer costs more than most steps of a call, so all timers of a request share
 * one, set for the earliest; if a call ends soon, the others are never set at all.
 */
export class RequestTimers {
  readonly #entries = new Set<Entry>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the platform's timer fires. */
  #at = Number.POSITIVE_INFINITY;

  /** Calls `act` after a time, in milliseconds. @returns cancels it; does nothing once it has been called */
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

  /** @param now when the timer was due; the clock may be slightly behind it */
  #act(now: number): void {
    this.#timer = undefined;
    this.#at = Number.POSITIVE_INFINITY;
    const due = [...this.#entries].filter(({ at }) => at <= now);
    for (const entry of due) this.#entries.delete(entry);
    const next = Math.min(...Array.from(this.#entries, ({ at }) => at));
    // An `act` that throws must not affect the others: later timers are set before any `act` runs, and all that are due run.
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
  /** Returns the error to report after a failed fetch or read: the deadline's own if the time is up, else `otherwise`. */
  explain(otherwise: PorticoError): PorticoError;
  /** Restarts the time, within the ceiling; has no effect while a server request waits. */
  restart(): void;
  /**
   * Applies `limitMs` while a server request waits, within a ceiling for all waits of the call. When the last waiting one is answered, the
   * time restarts.
   * @returns to be called when the server request is answered
   */
  hold(limitMs: number): () => void;
  /** Ends the call now, as if its client had gone away. */
  end(): void;
  /** Calls `act` at once when the call ends early. @returns removes it */
  onEnd(act: () => void): () => void;
  release(): void;
}

/**
 * However often its time restarts, a call ends after this many times its timeout, not counting the waits for server requests; these may
 * take this many times the limit of one.
 */
const CEILING_FACTOR = 10;

/**
 * @param timeoutMs longest time from now, in milliseconds
 * @param client aborts when the client of the call goes away
 * @param timers the timers of the request that the call belongs to
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
  let heldAt = 0;
  /** Length of all earlier waits for server requests. */
  let waitedMs = 0;
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
      if (held === 0) heldAt = Date.now();
      held += 1;
      const leftMs = questionMs * CEILING_FACTOR - waitedMs - (Date.now() - heldAt);
      set(Math.max(0, Math.min(questionMs, leftMs)));
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        held -= 1;
        if (held === 0) {
          waitedMs += Date.now() - heldAt;
          endsAt += Date.now() - heldAt;
        }
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
