/**
 * One call's time: ends at a deadline or when the client goes away, and says afterwards which it
 * was. Progress may start it anew up to a ceiling; while a question waits for a person it stands
 * still, up to a limit of its own. `release` must be called when the call is over.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { RequestTimers } from '../shared/util/request-timers.ts';

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
