/**
 * Implements `Model`, one question with one structured answer, on top of a conversational model: the JSON schema is sent along and the
 * answer is checked here. An answer that does not fit is retried like one that failed.
 */
import { z } from 'zod';
import type { TurnRequest } from './formats/dialect.ts';
import { parseWithin } from '../shared/json/json-spans.ts';
import type { CountedReply } from './metered.ts';
import { ModelFailure, type Model, type ModelQuestion } from './model-port.ts';
import type { Attempt } from './retry.ts';

export interface QuestionPorts {
  name: string;
  /** Makes one attempt. @throws ModelFailure */
  attemptTurn(request: TurnRequest, attempt: Attempt): Promise<CountedReply>;
  /** Runs work with retries. @throws ModelFailure */
  retrying<T>(signal: AbortSignal, work: (attempt: Attempt) => Promise<T>): Promise<T>;
}

export function createQuestions({ name, attemptTurn, retrying }: QuestionPorts): Model {
  return {
    name,
    complete: question =>
      retrying(question.deadline, async attempt => {
        const { text, stop, tokens } = await attemptTurn(toRequest(question), attempt);
        const value = question.schema.type.safeParse(parseJson(text));
        if (stop !== 'end' || !value.success) throw new ModelFailure('nonsense');
        return { value: value.data, tokens: tokens.input + tokens.output };
      }),
  };
}

const toRequest = ({ system, user, schema, maxTokens }: ModelQuestion<unknown>): TurnRequest => ({
  system,
  messages: [{ role: 'user', text: user }],
  answer: { name: schema.name, schema: z.toJSONSchema(schema.type) },
  maxTokens,
});

function parseJson(text: string): unknown {
  try {
    return parseWithin(text);
  } catch {
    return undefined;
  }
}
