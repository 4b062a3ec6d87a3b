/**
 * A language model as the domain asks it: one question, one answer that fits a schema. How a model is reached is for the adapters beside
 * this file. A question that could not be answered throws `ModelFailure`, which says nothing of addresses or keys.
 */
import type { z } from 'zod';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { TurnReply } from './formats/dialect.ts';

export interface ModelQuestion<T> {
  /** What is always so: the task, the rules. Trusted text only. */
  system: string;
  /** What it is about; untrusted text stands here, as data. */
  user: string;
  /** The form of the answer: a name, and what is checked before anybody gets it. */
  schema: { name: string; type: z.ZodType<T> };
  maxTokens: number;
  /** Ends the question: a time, or a caller that goes away. */
  deadline: AbortSignal;
}

export interface ModelAnswer<T> {
  value: T;
  /** Tokens of question and answer, as the model counted them, or about as many where it does not say. */
  tokens: number;
}

export interface Model {
  /** Which model, for the record: answers of another are others. */
  readonly name: string;
  complete<T>(question: ModelQuestion<T>): Promise<ModelAnswer<T>>;
}

const TEXTS = {
  timeout: 'The model did not answer in time',
  aborted: 'The question to the model was given up',
  rate_limited: 'The model limits the rate',
  unavailable: 'The model cannot be reached or failed',
  broken: 'The answer of the model broke off',
  auth: 'The model does not take the key: see the setting PORTICO_MODEL_KEY',
  no_key:
    'There is no key for the model: the secret that the setting PORTICO_MODEL_KEY names is missing, or may not be sent to where the model is',
  no_binding: 'The deployment has no binding AI to the models of the platform',
  not_found:
    'There is no such model: see the settings PORTICO_MODEL, PORTICO_MODEL_API and PORTICO_MODEL_URL',
  refused: 'The model refused the request',
  nonsense: 'The answer of the model does not have the form that was asked for',
  budget: 'The budget for the model is spent for today',
};

/** Why there is no answer. `nonsense`: it does not fit. `broken`: it ended before it was whole. `budget`: it may not be asked more today. */
export type ModelProblem = keyof typeof TEXTS;

export const MODEL_PROBLEMS = Object.keys(TEXTS) as ModelProblem[];

export class ModelFailure extends Error {
  readonly problem: ModelProblem;
  /** When to ask again, in milliseconds from now, where that is known. */
  readonly retryAfterMs: number | undefined;
  /** What had come of an answer that is `broken`; its calls are never made. */
  readonly partial: TurnReply | undefined;

  constructor(problem: ModelProblem, retryAfterMs?: number, partial?: TurnReply) {
    super(TEXTS[problem]);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
    this.partial = partial;
  }
}

/** What is told where there is no model, with what to set. */
export const noModel = (): PorticoError =>
  new PorticoError(
    'model_missing',
    'No language model is configured: set PORTICO_MODEL_API, PORTICO_MODEL and PORTICO_MODEL_KEY (or PORTICO_MODEL_URL for an OpenAI-compatible API)',
  );

/** A failure of a model as callers are told of it; anything else stays what it is. */
export function toModelError(thrown: unknown): unknown {
  if (!(thrown instanceof ModelFailure)) return thrown;
  const { problem, message, retryAfterMs } = thrown;
  const retry =
    retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  return problem === 'budget'
    ? new PorticoError('model_budget', message, retry)
    : new PorticoError('model_failed', message, { ...retry, data: { problem } });
}
