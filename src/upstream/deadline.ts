/**
 * One call's time: ends at a deadline or when the client goes away, and says afterwards which it
 * was. `release` must be called when the call is over.
 */
import { PorticoError } from '../errors/portico-error.ts';

export interface Deadline {
  readonly signal: AbortSignal;
  /** What to tell when a fetch or read failed: the deadline's own error, or the one given. */
  explain(otherwise: PorticoError): PorticoError;
  release(): void;
}

/**
 * @param timeoutMs longest time from now, in milliseconds
 * @param client aborts when the client of the call goes away
 */
export function createDeadline(timeoutMs: number, client?: AbortSignal): Deadline {
  const controller = new AbortController();
  const onClient = () => controller.abort();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, timeoutMs);
  if (client?.aborted) controller.abort();
  else client?.addEventListener('abort', onClient, { once: true });
  return {
    signal: controller.signal,
    explain: otherwise =>
      timedOut
        ? new PorticoError('upstream_timeout', `The server did not answer within ${timeoutMs} ms`)
        : otherwise,
    release() {
      clearTimeout(timer);
      client?.removeEventListener('abort', onClient);
    },
  };
}
