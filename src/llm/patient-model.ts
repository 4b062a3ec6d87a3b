/**
 * A model that is asked again: after a limit of its rate, a failure or an answer without sense, a few times, with growing pauses, never
 * before the time it asked for, and never beyond the question's time. What has to wait longer fails with how long.
 */
import { ModelFailure, type Model, type ModelProblem } from './model-port.ts';

export interface PatienceOptions {
  /** Longest time of one attempt, in milliseconds. */
  attemptMs: number;
  /** Longest time of a question with all its attempts, in milliseconds. */
  totalMs: number;
  wait(ms: number): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}

const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
const WORTH_ANOTHER: readonly ModelProblem[] = ['rate_limited', 'unavailable', 'nonsense'];

export function withPatience(inner: Model, options: PatienceOptions): Model {
  const { attemptMs, totalMs, wait, random } = options;
  return {
    name: inner.name,
    async complete(question) {
      const endsAt = Date.now() + totalMs;
      for (let attempt = 1; ; attempt += 1) {
        const leftMs = Math.max(1, Math.min(attemptMs, endsAt - Date.now()));
        const deadline = AbortSignal.any([question.deadline, AbortSignal.timeout(leftMs)]);
        try {
          return await inner.complete({ ...question, deadline });
        } catch (thrown) {
          if (!(thrown instanceof ModelFailure)) throw thrown;
          const pauseMs = Math.max(toPauseMs(attempt, random()), thrown.retryAfterMs ?? 0);
          const isOver = attempt === MAX_ATTEMPTS || question.deadline.aborted;
          const isLate = Date.now() + pauseMs >= endsAt;
          if (isOver || isLate || !WORTH_ANOTHER.includes(thrown.problem)) throw thrown;
          await wait(pauseMs);
        }
      }
    },
  };
}

/** Doubling from half a second on, with up to half taken off. */
function toPauseMs(attempt: number, random: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS) * (0.5 + 0.5 * random);
}
