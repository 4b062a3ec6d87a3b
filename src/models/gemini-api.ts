/**
 * The Gemini API: the path contains the model and whether to stream, a header the key; a wrong key is answered with 400. Source:
 * ai.google.dev/api, "Generating content" and "Embeddings".
 */
import { z } from 'zod';
import { dialectOf } from './formats/dialects.ts';
import type { HttpApi } from './http-api.ts';

const EmbeddingsSchema = z.object({
  embeddings: z.array(z.object({ values: z.array(z.number()) })),
});

const pathOf = (model: string, verb: string) => `/models/${encodeURIComponent(model)}:${verb}`;

export const GEMINI_API: HttpApi = {
  dialect: dialectOf('gemini'),
  publicUrl: 'https://generativelanguage.googleapis.com/v1beta',
  toPath: (model, isStreamed) =>
    pathOf(model, isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'),
  toHeaders: key => (key === undefined ? {} : { 'x-goog-api-key': key }),
  toExtras: () => ({}),
  isKeyRefusal: body => body.includes('API_KEY_INVALID'),
  embeddings: {
    // As with OpenAI: an answer with 3,072 numbers per text stays within the size limit.
    maxTexts: 64,
    toPath: model => pathOf(model, 'batchEmbedContents'),
    toBody: (model, texts) => ({
      requests: texts.map(text => ({ model: `models/${model}`, content: { parts: [{ text }] } })),
    }),
    fromBody: body => EmbeddingsSchema.safeParse(body).data?.embeddings.map(({ values }) => values),
  },
};
