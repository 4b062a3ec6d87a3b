/**
 * A model behind an OpenAI-compatible Chat Completions endpoint: one POST for one question, the answer asked for by its JSON schema and
 * checked here. No redirect is followed, so the key goes nowhere else; the answer is read up to a bound.
 */
import { z } from 'zod';
import { readText } from '../lib/read-text.ts';
import { ModelFailure, type Model, type ModelAnswer, type ModelQuestion } from './model-port.ts';

export interface OpenAiChatOptions {
  /** What `/chat/completions` is put behind: `https://api.example.com/v1`. */
  url: string;
  model: string;
  /** Sent as a bearer token; undefined where none is wanted. */
  key: string | undefined;
}

/** Largest answer, in bytes. */
const MAX_BYTES = 1_048_576;
/** A wait that a server asks for is believed up to this, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

const CompletionSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z.object({ total_tokens: z.number().int().nonnegative() }).nullish(),
});

/** @throws ModelFailure from `complete` */
export function createOpenAiChat({ url, model, key }: OpenAiChatOptions): Model {
  const endpoint = `${url.replace(/\/+$/, '')}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  return {
    name: model,
    async complete(question) {
      const body = JSON.stringify(toBody(model, question));
      const response = await send(endpoint, headers, body, question.deadline);
      if (!response.ok) throw await toFailure(response);
      return toAnswer(await read(response, question.deadline), question);
    },
  };
}

function toBody<T>(model: string, { system, user, schema, maxTokens }: ModelQuestion<T>) {
  return {
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    max_tokens: maxTokens,
    temperature: 0,
    response_format: {
      type: 'json_schema',
      json_schema: { name: schema.name, strict: true, schema: z.toJSONSchema(schema.type) },
    },
  };
}

async function send(
  endpoint: string,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  try {
    return await fetch(endpoint, { method: 'POST', headers, body, signal, redirect: 'manual' });
  } catch {
    throw new ModelFailure(signal.aborted ? 'timeout' : 'unavailable');
  }
}

async function read(response: Response, signal: AbortSignal): Promise<string> {
  try {
    return await readText(response, response.headers, MAX_BYTES);
  } catch {
    throw new ModelFailure(signal.aborted ? 'timeout' : 'unavailable');
  }
}

async function toFailure(response: Response): Promise<ModelFailure> {
  await response.body?.cancel().catch(() => {});
  const { status, headers } = response;
  if (status === 429) return new ModelFailure('rate_limited', toRetryAfterMs(headers));
  if (status >= 500) return new ModelFailure('unavailable', toRetryAfterMs(headers));
  return new ModelFailure('refused');
}

/** `Retry-After` as seconds or a date (RFC 9110 §10.2.3). */
function toRetryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  const wait = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MAX_RETRY_AFTER_MS);
}

/** @throws ModelFailure `nonsense` */
function toAnswer<T>(text: string, { schema }: ModelQuestion<T>): ModelAnswer<T> {
  const completion = CompletionSchema.safeParse(parseJson(text));
  const [choice] = completion.data?.choices ?? [];
  if (!choice || choice.finish_reason === 'length') throw new ModelFailure('nonsense');
  const value = schema.type.safeParse(parseJson(choice.message.content ?? ''));
  if (!value.success) throw new ModelFailure('nonsense');
  return { value: value.data, tokens: completion.data?.usage?.total_tokens };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
