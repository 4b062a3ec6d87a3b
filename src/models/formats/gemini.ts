/** The dialect of the Gemini API. */
import type { Dialect } from './dialect.ts';
import { fromGeminiCalls, fromGeminiResponse } from './gemini-reply.ts';
import { toGeminiRequest, toGeminiResults } from './gemini-request.ts';
import { GeminiReader } from './gemini-stream.ts';
import { toGeminiTools } from './gemini-tools.ts';

export const GEMINI: Dialect = {
  format: 'gemini',
  toTools: toGeminiTools,
  toRequest: toGeminiRequest,
  fromResponse: fromGeminiResponse,
  createReader: () => new GeminiReader(),
  fromCalls: fromGeminiCalls,
  toResults: toGeminiResults,
};
