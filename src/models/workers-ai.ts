/**
 * One attempt at a model of the platform's own AI binding. Requests are Chat Completions except for a few members. Answers have one of two
 * forms, both possibly streamed: that of Chat Completions, or the binding's own with `response`, `tool_calls` (name and arguments) and
 * `usage`.
 *
 * Source: developers.cloudflare.com/workers-ai, "Workers Bindings", "Traditional function calling", "JSON Mode" (the schema is the value of
 * `json_schema` itself; it does not stream), "Errors" (codes); types of @cloudflare/workers-types (`Ai`, `AiTextGenerationOutput`).
 */
import { z } from 'zod';
import { dialectOf } from './formats/dialects.ts';
import {
  FormatError,
  type TurnReader,
  type TurnReply,
  type TurnRequest,
} from './formats/dialect.ts';
import { parseJson } from './formats/read-json.ts';
import { isObject, type JsonObject } from '../shared/protocol.ts';
import type { AiBinding } from './ai-port.ts';
import { ModelFailure, type ModelProblem } from './model-port.ts';
import type { OneAttempt } from './one-attempt.ts';
import { toAborted, type Attempt } from './retry.ts';
import { readAs, readTurn } from './read-turn.ts';

export interface WorkersAiOptions {
  ai: AiBinding;
  model: string;
  /** The embedding model; absent where none is configured. */
  embedModel?: string | undefined;
}

/** Most texts per embedding request. */
const MAX_TEXTS = 100;

const dialect = dialectOf('openai-chat');

const CallSchema = z.union([
  z.looseObject({ function: z.looseObject({ name: z.string() }) }),
  z.object({ name: z.string(), arguments: z.unknown().optional() }),
]);
const OwnAnswerSchema = z.object({
  /** An object where a schema was requested. */
  response: z.unknown().optional(),
  tool_calls: z.array(CallSchema).nullish(),
  usage: z.unknown().optional(),
});
type OwnAnswer = z.infer<typeof OwnAnswerSchema>;
const EmbeddingsSchema = z.object({ data: z.array(z.array(z.number())) });

/** Problems by documented error code; any other code means `unavailable`. */
const PROBLEMS: Record<string, ModelProblem> = {
  '3036': 'rate_limited',
  '3040': 'rate_limited',
  '5016': 'auth',
  '5018': 'auth',
  '3023': 'auth',
  '3041': 'auth',
  '5007': 'not_found',
  '3042': 'not_found',
  '3003': 'refused',
  '3006': 'refused',
  '5004': 'refused',
  '5005': 'refused',
};

export function createWorkersAi({ ai, model, embedModel }: WorkersAiOptions): OneAttempt {
  return {
    dialect,
    async chat(request, attempt, onText) {
      const isStreamed = onText !== undefined && request.answer === undefined;
      const answer = await run(ai, model, toInputs(request, isStreamed), attempt);
      if (isStreamed && answer instanceof ReadableStream) {
        const reader = createReader(request.maxTokens);
        return readStream(answer as ReadableStream<Uint8Array>, reader, attempt, onText);
      }
      const { maxTokens } = request;
      const reply = readAs(() => dialect.fromResponse(toCompletion(answer, maxTokens)));
      if (reply.text !== '') onText?.(reply.text);
      return reply;
    },
    ...(embedModel === undefined
      ? {}
      : {
          embed: {
            maxTexts: MAX_TEXTS,
            async of(texts, attempt) {
              const answer = await run(ai, embedModel, { text: texts }, attempt);
              const { data } = EmbeddingsSchema.safeParse(answer);
              if (data?.data.length !== texts.length) throw new ModelFailure('nonsense');
              return data.data;
            },
          },
        }),
  };
}

/** Builds the binding's inputs from the body of a chat completion. */
function toInputs(request: TurnRequest, isStreamed: boolean): Record<string, unknown> {
  const { messages, tools } = dialect.toRequest(request);
  return {
    // A message without text gets an empty one.
    messages: (messages as JsonObject[]).map(message => ({
      ...message,
      content: message['content'] ?? '',
    })),
    max_tokens: request.maxTokens,
    ...(tools === undefined ? {} : { tools }),
    ...(request.answer
      ? { response_format: { type: 'json_schema', json_schema: request.answer.schema } }
      : {}),
    ...(isStreamed ? { stream: true } : {}),
  };
}

/** Runs the model; on an abort it rejects at once instead of waiting for the binding. */
async function run(
  ai: AiBinding,
  model: string,
  inputs: Record<string, unknown>,
  { signal, onSign }: Attempt,
): Promise<unknown> {
  if (signal.aborted) throw toAborted(signal);
  const gone = Promise.withResolvers<never>();
  const giveUp = () => gone.reject(toAborted(signal));
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const answer = await Promise.race([ai.run(model, inputs, { signal }), gone.promise]);
    onSign();
    return answer;
  } catch (thrown) {
    if (thrown instanceof ModelFailure) throw thrown;
    const [code = ''] = /\b[35]0\d\d\b/.exec(String(thrown)) ?? [];
    throw new ModelFailure(PROBLEMS[code] ?? 'unavailable');
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

async function readStream(
  body: ReadableStream<Uint8Array>,
  reader: TurnReader,
  attempt: Attempt,
  onText: (text: string) => void,
): Promise<TurnReply> {
  try {
    return await readTurn(body, reader, attempt, onText);
  } catch (thrown) {
    if (attempt.signal.aborted) throw toAborted(attempt.signal);
    throw thrown instanceof ModelFailure ? thrown : new ModelFailure('broken');
  }
}

/** Reads a stream of either form; the binding's own ends with `[DONE]` alone. */
function createReader(maxTokens: number): TurnReader {
  const reader = dialect.createReader();
  let calls = 0;
  let isOwn = false;
  let finish = 'stop';
  return {
    read(event) {
      if (event.data.trim() === '[DONE]') {
        if (!isOwn) return reader.read(event);
        return reader.read(toEvent({ choices: [{ delta: {}, finish_reason: finish }] }));
      }
      const chunk = parseJson(event.data, 'The event');
      if (isCompletion(chunk)) return reader.read(event);
      isOwn = true;
      const { response, tool_calls: written, usage } = toOwn(chunk);
      if (toFinish(usage, maxTokens) !== 'stop') finish = 'length';
      const toolCalls = toCalls(written).map(call => ({ index: calls++, ...call }));
      const delta = {
        content: toText(response),
        ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
      };
      return reader.read(toEvent({ choices: [{ delta, finish_reason: null }], usage }));
    },
    end: () => reader.end(),
  };
}

const toEvent = (data: object) => ({ event: 'message', data: JSON.stringify(data) });

const isCompletion = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'choices' in answer;

/** @throws FormatError */
function toOwn(answer: unknown): OwnAnswer {
  const own = OwnAnswerSchema.safeParse(answer);
  if (!own.success) throw new FormatError('The answer has an unexpected form');
  return own.data;
}

/**
 * The binding's own form has no finish reason: an answer that used all its tokens counts as cut, and a call without argument text counts as
 * incomplete.
 */
function toFinish(usage: unknown, maxTokens: number): 'stop' | 'length' {
  const used = isObject(usage) ? usage['completion_tokens'] : undefined;
  return typeof used === 'number' && used >= maxTokens ? 'length' : 'stop';
}

/** Converts either form to a chat completion. @throws FormatError */
function toCompletion(answer: unknown, maxTokens: number): unknown {
  if (isCompletion(answer)) return answer;
  const {
    response,
    tool_calls: written,
    usage,
  } = toOwn(typeof answer === 'string' ? { response: answer } : answer);
  const calls = toCalls(written);
  const text = toText(response);
  const finish = toFinish(usage, maxTokens);
  const isEmpty = text === '' && typeof response !== 'string' && calls.length === 0;
  if (isEmpty && finish === 'stop') {
    throw new FormatError('The answer has neither a text nor calls');
  }
  const message = {
    content: text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return { choices: [{ message, finish_reason: finish }], usage };
}

const toText = (response: unknown): string => {
  if (response === undefined || response === null) return '';
  return typeof response === 'string' ? response : JSON.stringify(response);
};

/** Calls in the binding's own form have no id; they get one in the format its models know. */
const toCalls = (written: OwnAnswer['tool_calls']): JsonObject[] =>
  (written ?? []).map(call =>
    'function' in call
      ? (call as JsonObject)
      : {
          id: crypto.randomUUID().replaceAll('-', '').slice(0, 9),
          type: 'function',
          function: { name: call.name, arguments: toText(call.arguments) },
        },
  );
