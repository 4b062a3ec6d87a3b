/**
 * One question, one answer of a form (`Model`), asked of a model that holds conversations: the answer is asked for by its JSON schema and
 * checked here. One that does not fit is asked for again, like one that did not come.
 */
import { z } from 'zod';
import type { TurnRequest } from './formats/dialect.ts';
import { parseWithin } from '../shared/json/json-spans.ts';
import type { CountedReply } from './metered.ts';
import { ModelFailure, type Model, type ModelQuestion } from './model-port.ts';
import type { Attempt } from './retry.ts';

export interface QuestionPorts {
  /** Which model. */
  name: string;
  /** Asks once. @throws ModelFailure */
  ask(request: TurnRequest, attempt: Attempt): Promise<CountedReply>;
  /** Tries again where that helps. @throws ModelFailure */
  retrying<T>(signal: AbortSignal, work: (attempt: Attempt) => Promise<T>): Promise<T>;
}

export function createQuestions({ name, ask, retrying }: QuestionPorts): Model {
  return {
    name,
    complete: question =>
      retrying(question.deadline, async attempt => {
        const { text, stop, tokens } = await ask(toRequest(question), attempt);
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
