/** The language model of a deployment, as its settings have it: within its budget, and asked again where that helps. */
import type { ModelSettings } from './model-settings.ts';
import { withBudget } from './budget-service.ts';
import type { Model } from './model-port.ts';
import { createOpenAiChat } from './openai-chat.ts';
import { withPatience } from './patient-model.ts';

/** Longest time of a question with all its attempts, in milliseconds. */
const TOTAL_MS = 45_000;

/** @param purpose what it is used for: each purpose has a budget of its own */
export function createModel(settings: ModelSettings, db: D1Database, purpose: string): Model {
  const { url, name: model, key, timeoutMs: attemptMs, perDay } = settings;
  const chat = createOpenAiChat({ url, model, key });
  return withPatience(withBudget(chat, { db, purpose, perDay, now: () => Date.now() }), {
    attemptMs,
    totalMs: TOTAL_MS,
    wait: ms => scheduler.wait(ms),
    random: () => Math.random(),
  });
}
