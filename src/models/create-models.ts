/**
 * Builds the deployment's language model from its settings: for conversations, single questions and vectors, within a daily budget, with
 * retries and prices.
 */
import type { TokenCount, TurnRequest } from './formats/dialect.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import type { AiBinding } from './ai-port.ts';
import { ANTHROPIC_API } from './anthropic-api.ts';
import { createBudget, type Budget } from './budget-service.ts';
import type { ChatModel } from './chat-port.ts';
import { toCounted, toInputTokens, toLikelyTokens, type CountedReply } from './metered.ts';
import type { Embedder } from './embedder-port.ts';
import { GEMINI_API } from './gemini-api.ts';
import type { HttpApi } from './http-api.ts';
import { createHttpChat } from './http-chat.ts';
import { findModelKey } from './model-key-service.ts';
import { ModelFailure, type Model } from './model-port.ts';
import type { ModelApi, ModelSettings } from './model-settings.ts';
import type { OneAttempt } from './one-attempt.ts';
import { OPENAI_CHAT_API, OPENAI_RESPONSES_API } from './openai-api.ts';
import { withRetry, type Attempt } from './retry.ts';
import { createQuestions } from './model-questions.ts';
import { createWorkersAi } from './workers-ai.ts';

export interface ModelsPorts {
  db: D1Database;
  /** Opens the secret that the key setting names. */
  keys: KeyRing;
  /** The platform's own models; absent where there is no binding. */
  ai?: AiBinding | undefined;
  /** Waiting, randomness and the clock, for tests to replace. */
  wait?(ms: number, signal: AbortSignal): Promise<void>;
  random?(): number;
  now?(): number;
}

export interface Models {
  /** Returns a model for conversations; undefined where none is configured. Each purpose has its own budget. */
  chat(purpose: string): ChatModel | undefined;
  /** Returns a model for single questions; undefined where none is configured. */
  questions(purpose: string): Model | undefined;
  /** Returns a model for vectors; undefined where none is configured. */
  embedder(purpose: string): Embedder | undefined;
}

/** Longest time for a question with all its attempts, in milliseconds. */
const QUESTION_TOTAL_MS = 45_000;
/** Longest time for a turn of a conversation, or for vectors, with all attempts, in milliseconds. */
const TURN_TOTAL_MS = 300_000;

const APIS: Record<Exclude<ModelApi, 'workers-ai'>, HttpApi> = {
  openai: OPENAI_CHAT_API,
  'openai-responses': OPENAI_RESPONSES_API,
  anthropic: ANTHROPIC_API,
  gemini: GEMINI_API,
};

/** Builds the deployment's models from its bindings. */
export const modelsOf = (
  { DB: db, AI: ai }: { DB: D1Database; AI?: AiBinding },
  settings: ModelSettings | undefined,
  keys: KeyRing,
): Models => createModels(settings, { db, ai, keys });

export function createModels(settings: ModelSettings | undefined, ports: ModelsPorts): Models {
  if (!settings) return NO_MODELS;
  const { name, prices, perDay } = settings;
  const model = createOneAttempt(settings, ports);
  const {
    db,
    now = Date.now,
    random = Math.random,
    wait = (ms, signal) => scheduler.wait(ms, { signal }),
  } = ports;
  const budgetOf = (purpose: string) => createBudget({ db, purpose, perDay, now });
  const retryOf =
    (totalMs: number) =>
    <T>(signal: AbortSignal, work: (attempt: Attempt) => Promise<T>) =>
      withRetry(signal, { silenceMs: settings.timeoutMs, totalMs, wait, random }, work);
  const costOf = ({ input, output }: TokenCount) =>
    prices && (input * prices.input + output * prices.output) / 1_000_000;

  return {
    chat(purpose) {
      const budget = budgetOf(purpose);
      const retrying = retryOf(TURN_TOTAL_MS);
      return {
        name,
        dialect: model.dialect,
        costOf,
        chat: ({ signal, onText, ...request }) =>
          retrying(signal, attempt => attemptTurn(model, budget, request, attempt, onText)),
      };
    },
    questions(purpose) {
      const budget = budgetOf(purpose);
      return createQuestions({
        name,
        attemptTurn: (request, attempt) => attemptTurn(model, budget, request, attempt),
        retrying: retryOf(QUESTION_TOTAL_MS),
      });
    },
    embedder(purpose) {
      const { embed } = model;
      if (!embed) return undefined;
      const budget = budgetOf(purpose);
      const retrying = retryOf(TURN_TOTAL_MS);
      return {
        name: [settings.api, settings.url, settings.embedModel].join(' '),
        maxTexts: embed.maxTexts,
        embed(texts, signal) {
          const tokens = toLikelyTokens(texts.join('').length);
          const attemptOnce = (attempt: Attempt) =>
            budget(
              tokens,
              () => embed.of(texts, attempt),
              () => tokens,
            );
          return retrying(signal, attemptOnce);
        },
      };
    },
  };
}

/** Makes one attempt within the budget and counts its tokens. */
function attemptTurn(
  model: OneAttempt,
  budget: Budget,
  request: TurnRequest,
  attempt: Attempt,
  onText?: (text: string) => void,
): Promise<CountedReply> {
  const input = toInputTokens(model.dialect, request);
  return budget(
    input + request.maxTokens,
    async () => toCounted(await model.chat(request, attempt, onText), input),
    ({ tokens }) => tokens.input + tokens.output,
  );
}

function createOneAttempt(settings: ModelSettings, { db, keys, ai }: ModelsPorts): OneAttempt {
  const { api: apiName, name: model, embedModel } = settings;
  if (apiName === 'workers-ai') {
    return createWorkersAi({ ai: ai ?? NO_BINDING, model, embedModel });
  }
  const api = APIS[apiName];
  const url = settings.url ?? api.publicUrl;
  const findKey = () => findModelKey({ db, keys }, settings.key, url);
  return createHttpChat({ api, url, model, embedModel, findKey });
}

const NO_MODELS: Models = {
  chat: () => undefined,
  questions: () => undefined,
  embedder: () => undefined,
};

/** Stands in where the deployment configures the platform's models but has no binding to them. */
const NO_BINDING: AiBinding = { run: () => Promise.reject(new ModelFailure('no_binding')) };
