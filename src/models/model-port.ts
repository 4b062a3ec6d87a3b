/**
 * Port for single questions to a language model: one question, one answer that fits a schema. The adapters beside this file implement how a
 * model is reached. Failures are thrown as `ModelFailure`, which reveals no address or key.
 */
import type { z } from 'zod';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { TurnReply } from './formats/dialect.ts';

export interface ModelQuestion<T> {
  /** The constant part: task and rules. Trusted text only. */
  system: string;
  /** The subject of the question; untrusted text goes here, as data. */
  user: string;
  /** Schema of the answer, with a name; answers are checked against it before they are returned. */
  schema: { name: string; type: z.ZodType<T> };
  maxTokens: number;
  /** Aborts the question: on a timeout, or when the caller goes away. */
  deadline: AbortSignal;
}

export interface ModelAnswer<T> {
  value: T;
  /** Tokens of question and answer, by the model's own count, or estimated where it reports none. */
  tokens: number;
}

export interface Model {
  /** Name of the model, for records: stored answers of other models do not count. */
  readonly name: string;
  complete<T>(question: ModelQuestion<T>): Promise<ModelAnswer<T>>;
}

const TEXTS = {
  timeout: 'The model did not answer in time',
  aborted: 'The request to the model was cancelled',
  rate_limited: 'The model refused the request because of its rate limit',
  unavailable: 'The model cannot be reached or failed',
  broken: 'The answer of the model broke off',
  auth: 'The model API refuses the key: see the setting PORTICO_MODEL_KEY',
  no_key:
    'There is no key for the model: the secret that the setting PORTICO_MODEL_KEY names is missing, or may not be sent to the origin of the model',
  no_binding: 'The deployment lacks the binding AI, which the models of the platform need',
  not_found:
    'There is no such model: see the settings PORTICO_MODEL, PORTICO_MODEL_API and PORTICO_MODEL_URL',
  refused: 'The model refused the request',
  nonsense: 'The answer of the model does not have the required form',
  budget: 'The budget for the model is spent for today',
};

/**
 * Why there is no answer. `nonsense`: it does not fit the schema. `broken`: it ended early. `budget`: the model may not be used more today.
 */
export type ModelProblem = keyof typeof TEXTS;

export const MODEL_PROBLEMS = Object.keys(TEXTS) as ModelProblem[];

export class ModelFailure extends Error {
  readonly problem: ModelProblem;
  /** Least time before a retry, in milliseconds, where known. */
  readonly retryAfterMs: number | undefined;
  /** What had arrived of an answer that is `broken`; its calls are never made. */
  readonly partial: TurnReply | undefined;

  constructor(problem: ModelProblem, retryAfterMs?: number, partial?: TurnReply) {
    super(TEXTS[problem]);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
    this.partial = partial;
  }
}

/** The error where no model is configured; it names the settings to set. */
export const noModel = (): PorticoError =>
  new PorticoError(
    'model_missing',
    'No language model is configured: set PORTICO_MODEL_API, PORTICO_MODEL and PORTICO_MODEL_KEY (or PORTICO_MODEL_URL for an OpenAI-compatible API)',
  );

/** Converts a `ModelFailure` to the error that callers get; returns anything else as it is. */
export function toModelError(thrown: unknown): unknown {
  if (!(thrown instanceof ModelFailure)) return thrown;
  const { problem, message, retryAfterMs } = thrown;
  const retry =
    retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  return problem === 'budget'
    ? new PorticoError('model_budget', message, retry)
    : new PorticoError('model_failed', message, { ...retry, data: { problem } });
}
