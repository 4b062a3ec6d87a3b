/** What a run may still use. Pure. A question is estimated before it is asked; its real use is counted afterwards. */
import type { TokenCount } from '../../models/formats/dialect.ts';
import { toLikelyTokens } from '../../models/metered.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { Limits } from './chat-settings.ts';
import type { Spent, StopReason } from './chat-state.ts';

export const MAX_ANSWER_TOKENS = 4_096;
/** Fewest tokens of an answer; below that, the model is not asked. */
export const MIN_ANSWER_TOKENS = 64;

/** Most tokens that the next answer may have, or why there is none. */
export type Allowance = { maxTokens: number } | { stop: StopReason };

/**
 * Decides whether the model may be asked again.
 * @param request the body that would be sent, to estimate its tokens
 * @param costOf US dollars of that many tokens; undefined where there are no prices
 */
export function decideAllowance(
  spent: Spent,
  limits: Limits,
  request: JsonObject,
  costOf: (tokens: TokenCount) => number | undefined,
): Allowance {
  if (spent.steps >= limits.steps) return { stop: 'steps' };
  if (spent.ms >= limits.seconds * 1_000) return { stop: 'seconds' };
  const likelyInput = toLikelyTokens(JSON.stringify(request).length);
  const left = limits.tokens - spent.inputTokens - spent.outputTokens - likelyInput;
  if (left < MIN_ANSWER_TOKENS) return { stop: 'tokens' };
  const maxTokens = Math.min(MAX_ANSWER_TOKENS, left);
  if (limits.costUsd === undefined) return { maxTokens };
  const ofInput = costOf({ input: likelyInput, output: 0 });
  const ofThousand = costOf({ input: 0, output: 1_000 });
  if (ofInput === undefined || ofThousand === undefined) return { stop: 'cost' };
  const payable = limits.costUsd - (spent.costUsd ?? 0) - ofInput;
  const affordable = ofThousand === 0 ? maxTokens : Math.floor((payable / ofThousand) * 1_000);
  if (payable < 0 || affordable < MIN_ANSWER_TOKENS) return { stop: 'cost' };
  return { maxTokens: Math.min(maxTokens, affordable) };
}

/** Adds the use of an answered question. */
export function withTokens(
  spent: Spent,
  tokens: TokenCount,
  costOf: (tokens: TokenCount) => number | undefined,
): Spent {
  const cost = costOf(tokens);
  return {
    ...spent,
    steps: spent.steps + 1,
    inputTokens: spent.inputTokens + tokens.input,
    outputTokens: spent.outputTokens + tokens.output,
    costUsd: cost === undefined ? spent.costUsd : (spent.costUsd ?? 0) + cost,
  };
}
