/**
 * One call's time: ends at a deadline or when the client goes away, and says afterwards which it
 * was. Progress may start it anew up to a ceiling; while a question waits for a person it stands
 * still, up to a limit of its own. `release` must be called when the call is over.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';

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
  release(): void;
}

/** However often it begins anew, a call ends after this many times its timeout. */
const CEILING_FACTOR = 10;

/**
 * @param timeoutMs longest time from now, in milliseconds
 * @param client aborts when the client of the call goes away
 */
export function createDeadline(timeoutMs: number, client?: AbortSignal): Deadline {
  const controller = new AbortController();
  let endsAt = Date.now() + timeoutMs * CEILING_FACTOR;
  let limitMs = timeoutMs;
  let timedOut = false;
  let isOver = false;
  let held = 0;
  const onClient = () => controller.abort();
  const onTime = () => {
    timedOut = true;
    controller.abort();
  };
  let timer = setTimeout(onTime, timeoutMs);
  if (client?.aborted) controller.abort();
  else client?.addEventListener('abort', onClient, { once: true });

  function set(ms: number): void {
    clearTimeout(timer);
    if (isOver) return;
    limitMs = ms;
    timer = setTimeout(onTime, ms);
  }

  function restart(): void {
    if (held === 0) set(Math.max(0, Math.min(timeoutMs, endsAt - Date.now())));
  }

  return {
    signal: controller.signal,
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
    end: () => controller.abort(),
    release() {
      isOver = true;
      clearTimeout(timer);
      client?.removeEventListener('abort', onClient);
    },
  };
}
