/**
 * OpenAI's two APIs and those compatible with them. The key is a bearer token; `stream_options.include_usage` makes a stream of Chat
 * Completions report its tokens. Source: OpenAI API reference, "Create chat completion", "Create a model response", "Create embeddings".
 */
import { z } from 'zod';
import { dialectOf } from './formats/dialects.ts';
import type { EmbeddingsApi, HttpApi } from './http-api.ts';

const EmbeddingsSchema = z.object({
  data: z.array(z.object({ index: z.number().int(), embedding: z.array(z.number()) })),
});

const embeddings: EmbeddingsApi = {
  // With 3,072 numbers of 30 bytes per text, an answer stays within the size limit.
  maxTexts: 64,
  toPath: () => '/embeddings',
  toBody: (model, texts) => ({ model, input: texts, encoding_format: 'float' }),
  fromBody: body =>
    EmbeddingsSchema.safeParse(body)
      .data?.data.toSorted((one, other) => one.index - other.index)
      .map(({ embedding }) => embedding),
};

const PUBLIC = {
  publicUrl: 'https://api.openai.com/v1',
  toHeaders: (key: string | undefined): Record<string, string> =>
    key === undefined ? {} : { authorization: `Bearer ${key}` },
  embeddings,
};

export const OPENAI_CHAT_API: HttpApi = {
  ...PUBLIC,
  dialect: dialectOf('openai-chat'),
  toPath: () => '/chat/completions',
  toExtras: (model, isStreamed) => ({
    model,
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  }),
};

export const OPENAI_RESPONSES_API: HttpApi = {
  ...PUBLIC,
  dialect: dialectOf('openai-responses'),
  toPath: () => '/responses',
  toExtras: (model, isStreamed) => ({ model, ...(isStreamed ? { stream: true } : {}) }),
};
