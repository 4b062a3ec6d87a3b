/**
 * Work at a model that is tried again: after a limit of its rate, a failure or an answer without sense, a few times, with growing pauses,
 * never before the time it asked for, and never beyond its time. What has to wait longer fails with how long. Whoever hands something on
 * before the work is done says so, and then nothing is tried again.
 */
import { ModelFailure, type ModelProblem } from './model-port.ts';

export interface RetryOptions {
  /** Longest time in which nothing comes, in milliseconds. */
  silenceMs: number;
  /** Longest time with all attempts, in milliseconds. */
  totalMs: number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}

export interface Attempt {
  /** Ends the attempt: its time, or whoever waits for it. */
  signal: AbortSignal;
  /** Something came: silence begins anew. */
  onSign(): void;
  /** Something was handed on: there is no other attempt. */
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
 * @param given ends all of it
 * @throws ModelFailure; what `work` throws that is none, at once
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

/** A signal that aborts when nothing came for a while, or at the end of all. */
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

/** What an aborted signal means: its time was over, or whoever asked went away. */
export function toAborted({ reason }: AbortSignal): ModelFailure {
  if (reason instanceof ModelFailure) return reason;
  const isTime = reason instanceof DOMException && reason.name === 'TimeoutError';
  return new ModelFailure(isTime ? 'timeout' : 'aborted');
}

/** Doubling from half a second on, with up to half taken off. */
function toPauseMs(attempt: number, random: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS) * (0.5 + 0.5 * random);
}
