/**
 * Anthropic's Messages API: key and version are sent as headers. It has no embeddings of its own. Source: platform.claude.com/docs, "API
 * overview", "Versions" and "Streaming messages".
 */
import { dialectOf } from './formats/dialects.ts';
import type { HttpApi } from './http-api.ts';

/** The version that the dialect is written for; later ones stay compatible. */
const VERSION = '2023-06-01';

export const ANTHROPIC_API: HttpApi = {
  dialect: dialectOf('anthropic'),
  publicUrl: 'https://api.anthropic.com/v1',
  toPath: () => '/messages',
  toHeaders: key => ({
    'anthropic-version': VERSION,
    ...(key === undefined ? {} : { 'x-api-key': key }),
  }),
  toExtras: (model, isStreamed) => ({ model, ...(isStreamed ? { stream: true } : {}) }),
};
