/**
 * A language model as the domain asks it: one question, one answer that fits a schema. How a model is reached is for the adapters beside
 * this file. A question that could not be answered throws `ModelFailure`, which says nothing of addresses or keys.
 */
import type { z } from 'zod';

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
  /** Tokens of question and answer, as the model counted them; undefined where it does not say. */
  tokens: number | undefined;
}

export interface Model {
  /** Which model, for the record: answers of another are others. */
  readonly name: string;
  complete<T>(question: ModelQuestion<T>): Promise<ModelAnswer<T>>;
}

/** Why there is no answer. `nonsense`: it does not fit the schema. `budget`: it may not be asked more today. */
export type ModelProblem =
  'timeout' | 'rate_limited' | 'unavailable' | 'refused' | 'nonsense' | 'budget';

const TEXTS: Record<ModelProblem, string> = {
  timeout: 'The model did not answer in time',
  rate_limited: 'The model limits the rate',
  unavailable: 'The model cannot be reached or failed',
  refused: 'The model refused the request',
  nonsense: 'The answer of the model does not have the form that was asked for',
  budget: 'The budget for the model is spent for today',
};

export class ModelFailure extends Error {
  readonly problem: ModelProblem;
  /** When to ask again, in milliseconds from now, where that is known. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: ModelProblem, retryAfterMs?: number) {
    super(TEXTS[problem]);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}
