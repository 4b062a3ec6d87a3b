/** The two questions that ask puts to a model: for a plan and for a summary, each within what is left of the request's budget. */
import type { ChatModel } from '../../models/chat-port.ts';
import { toLikelyTokens, type CountedReply } from '../../models/metered.ts';
import { ModelFailure } from '../../models/model-port.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { AskMeter } from './budget.ts';
import { decideBudget, type AskBudget, type BudgetReason } from './request-guard.ts';

export interface AskQuestion {
  system: string;
  message: string;
  answer: { name: string; schema: JsonObject };
  maxTokens: number;
}

/** Least tokens that leave room for an answer. */
const MIN_ANSWER_TOKENS = 64;

/**
 * Puts one question to the model.
 * @returns the text, or the part of the budget that has no room for the question or was used up by it
 * @throws ModelFailure
 */
export async function askModel(
  model: ChatModel,
  { system, message, answer, maxTokens }: AskQuestion,
  meter: AskMeter,
  most: AskBudget,
  signal: AbortSignal,
): Promise<{ text: string } | { reason: BudgetReason }> {
  const before = meter.spent;
  const prompt = toLikelyTokens(system.length + message.length);
  const reason = decideBudget(before, most, { questions: 1, tokens: prompt + MIN_ANSWER_TOKENS });
  if (reason) return { reason };
  const ends = AbortSignal.any([signal, AbortSignal.timeout(most.elapsedMs - before.elapsedMs)]);
  meter.ask();
  let reply: CountedReply;
  try {
    reply = await model.chat({
      system,
      messages: [{ role: 'user', text: message }],
      answer,
      maxTokens: Math.min(maxTokens, most.tokens - before.tokens - prompt),
      signal: ends,
    });
  } catch (thrown) {
    if (!(thrown instanceof ModelFailure)) throw thrown;
    const late = decideBudget(meter.spent, most);
    if (late) return { reason: late };
    throw thrown;
  }
  meter.count(reply.tokens, model.costOf(reply.tokens));
  // A reply that calls a tool or was cut is no answer; any other text is judged as it is.
  return { text: reply.calls.length > 0 || reply.stop !== 'end' ? '' : reply.text };
}
