/**
 * A model with a budget: each attempt draws a call and its likely tokens from what a day of UTC allows, before it is sent, and is put right
 * by what it used. The budget is one for the deployment, whoever asks.
 */
import { ModelFailure, type Model, type ModelQuestion } from './model-port.ts';
import { correctUsage, drawUsage, type Usage } from './usage-store.ts';

export interface BudgetOptions {
  db: D1Database;
  /** What it is used for: each purpose has the whole budget. */
  purpose: string;
  /** What a day allows. */
  perDay: Usage;
  now(): number;
}

const DAY_MS = 86_400_000;
/** About how many characters are a token. */
const CHARS_PER_TOKEN = 3;

/** @throws ModelFailure `budget` from `complete`, until the next day */
export function withBudget(inner: Model, { db, purpose, perDay, now }: BudgetOptions): Model {
  return {
    name: inner.name,
    async complete(question) {
      const at = now();
      const day = new Date(at).toISOString().slice(0, 10);
      const likely = likelyTokens(question);
      if (!(await drawUsage(db, day, purpose, likely, perDay))) {
        throw new ModelFailure('budget', DAY_MS - (at % DAY_MS));
      }
      const answer = await inner.complete(question);
      const { tokens } = answer;
      if (tokens !== undefined && tokens !== likely) {
        await correctUsage(db, day, purpose, tokens - likely);
      }
      return answer;
    },
  };
}

const likelyTokens = ({ system, user, maxTokens }: ModelQuestion<unknown>): number =>
  Math.ceil((system.length + user.length) / CHARS_PER_TOKEN) + maxTokens;
