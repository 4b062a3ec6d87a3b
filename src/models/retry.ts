/**
 * Retries work at a model after a rate limit, a failure or an unreadable answer: a few times, with growing pauses, never before the time
 * that the model asked for, and never beyond the total time. If the pause would be longer, it fails with the time to wait. Once an attempt
 * has handed on part of its result, there is no retry.
 */
import { ModelFailure, type ModelProblem } from './model-port.ts';

export interface RetryOptions {
  /** Longest time without any data, in milliseconds. */
  silenceMs: number;
  /** Longest time for all attempts together, in milliseconds. */
  totalMs: number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}

export interface Attempt {
  /** Aborts the attempt: on a timeout, or when the caller gives up. */
  signal: AbortSignal;
  /** Call when data arrives: restarts the silence timeout. */
  onSign(): void;
  /** Call when part of the result was handed on: rules out another attempt. */
  onHandedOn(): void;
}

const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
const WORTH_ANOTHER: readonly ModelProblem[] = [
  'rate_limited',
  'unavailable',
  'broken',
  'nonsense',
];

/**
 * Runs `work` until it succeeds or a retry is ruled out.
 * @param given aborts all attempts
 * @throws ModelFailure; any other error of `work`, at once
 */
export async function withRetry<T>(
  given: AbortSignal,
  options: RetryOptions,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const { silenceMs, totalMs, wait, random } = options;
  const endsAt = Date.now() + totalMs;
  let isHandedOn = false;
  for (let attempt = 1; ; attempt += 1) {
    const silence = createSilence(silenceMs, endsAt);
    const signal = AbortSignal.any([given, silence.signal]);
    const onHandedOn = () => {
      isHandedOn = true;
    };
    try {
      return await work({ signal, onSign: silence.restart, onHandedOn });
    } catch (thrown) {
      if (given.aborted) throw toAborted(given);
      if (!(thrown instanceof ModelFailure)) throw thrown;
      const pauseMs = Math.max(toPauseMs(attempt, random()), thrown.retryAfterMs ?? 0);
      const isOver = attempt === MAX_ATTEMPTS || isHandedOn || Date.now() + pauseMs >= endsAt;
      if (isOver || !WORTH_ANOTHER.includes(thrown.problem)) throw thrown;
      await wait(pauseMs, given).catch(() => {});
      if (given.aborted) throw toAborted(given);
    } finally {
      silence.stop();
    }
  }
}

/** Creates a signal that aborts after a time without data, or at the end of the total time. */
function createSilence(silenceMs: number, endsAt: number) {
  const controller = new AbortController();
  const begin = () =>
    setTimeout(
      () => controller.abort(new ModelFailure('timeout')),
      Math.max(1, Math.min(silenceMs, endsAt - Date.now())),
    );
  let timer = begin();
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    timer = begin();
  };
  return { signal: controller.signal, restart, stop };
}

/** Converts an aborted signal to a failure: `timeout`, or `aborted` where the caller went away. */
export function toAborted({ reason }: AbortSignal): ModelFailure {
  if (reason instanceof ModelFailure) return reason;
  const isTime = reason instanceof DOMException && reason.name === 'TimeoutError';
  return new ModelFailure(isTime ? 'timeout' : 'aborted');
}

/** Exponential backoff from half a second, with jitter that takes off up to half. */
function toPauseMs(attempt: number, random: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS) * (0.5 + 0.5 * random);
}
