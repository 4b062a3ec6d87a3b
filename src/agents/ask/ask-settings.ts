/** Settings of a deployment that limit the size and the cost of one request to ask. */
import { z } from 'zod';
import type { AskBudget } from './request-guard.ts';
import type { InputRules } from './input-policy.ts';

export interface AskSettings {
  readonly input: InputRules;
  /** The most that one request may use. */
  readonly most: AskBudget;
}

/** One plan and one summary; exactly one call. */
const MAX_QUESTIONS = 2;
const MAX_CALLS = 1;
const MAX_BLOCKED = 100;
/** Limits of one pattern: each `*` makes matching slower. */
const MAX_BLOCKED_CHARS = 200;
const MAX_WILDCARDS = 8;

const isBlockable = (pattern: string) =>
  pattern.length <= MAX_BLOCKED_CHARS && pattern.split('*').length - 1 <= MAX_WILDCARDS;
const blockedOf = (text: string) => text.split(',').filter(pattern => pattern.trim() !== '');

/** The members of the settings' schema. */
export const ASK_SETTINGS = {
  PORTICO_ASK_MAX_CHARS: z.coerce.number().int().min(1).max(100_000).default(4_000),
  PORTICO_ASK_BLOCKED: z
    .string()
    .default('')
    .refine(
      text => blockedOf(text).length <= MAX_BLOCKED && blockedOf(text).every(isBlockable),
      `use up to ${MAX_BLOCKED} patterns, separated by commas`,
    ),
  PORTICO_ASK_TOKENS: z.coerce.number().int().min(1).max(10_000_000).default(30_000),
  PORTICO_ASK_TIMEOUT_MS: z.coerce.number().int().min(1).max(3_600_000).default(60_000),
};
const SettingsSchema = z.object(ASK_SETTINGS);

export function toAskSettings(settings: z.infer<typeof SettingsSchema>): AskSettings {
  return {
    input: {
      maxChars: settings.PORTICO_ASK_MAX_CHARS,
      blocked: blockedOf(settings.PORTICO_ASK_BLOCKED),
    },
    most: {
      calls: MAX_CALLS,
      questions: MAX_QUESTIONS,
      tokens: settings.PORTICO_ASK_TOKENS,
      elapsedMs: settings.PORTICO_ASK_TIMEOUT_MS,
    },
  };
}
