/** Sums up a result: asks once, and keeps the claims that the output proves. The result is returned whether the summary succeeds or not. */
import type { ChatModel } from '../../models/chat-port.ts';
import { ModelFailure } from '../../models/model-port.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { askModel } from './ask-model.ts';
import type { AskOutcome, SummaryProblem } from './ask-schema.ts';
import type { AskMeter } from './budget.ts';
import { CLAIMS_FORM, outputTexts, shownOutput, toSummary } from './evidence.ts';
import type { AskBudget } from './request-guard.ts';
import { SUMMARY_SYSTEM, toSummaryMessage } from './prompt.ts';

const MAX_SUMMARY_TOKENS = 1_024;

export interface SumUpPorts {
  model: ChatModel;
  meter: AskMeter;
  most: AskBudget;
  signal: AbortSignal;
}

export async function sumUp(
  request: string,
  result: JsonObject,
  { model, meter, most, signal }: SumUpPorts,
): Promise<NonNullable<AskOutcome['summary']>> {
  if (result['isError'] === true) return nothing('tool_error');
  const texts = outputTexts(result);
  if (texts.length === 0) return nothing('no_text');
  const nonce = crypto.randomUUID().replaceAll('-', '');
  const question = {
    system: SUMMARY_SYSTEM,
    message: toSummaryMessage(request, shownOutput(texts), nonce),
    answer: { name: 'claims', schema: CLAIMS_FORM },
    maxTokens: MAX_SUMMARY_TOKENS,
  };
  try {
    const answer = await askModel(model, question, meter, most, signal);
    if ('reason' in answer) return nothing('budget');
    return toSummary(answer.text, texts) ?? nothing('not_claims');
  } catch (thrown) {
    // Whatever failed, as the database that counts what is spent: the call was made, and its result must not be lost.
    const isBudget = thrown instanceof ModelFailure && thrown.problem === 'budget';
    return nothing(isBudget ? 'budget' : 'model_failed');
  }
}

const nothing = (problem: SummaryProblem) => ({ claims: [], dropped: 0, problem });
