/** The dialect of the Gemini API. All functions are in a single entry of `tools`. */
import type { Dialect } from './dialect.ts';
import { exportTools } from './export-tools.ts';
import { fromGeminiCalls, fromGeminiResponse } from './gemini-reply.ts';
import { toGeminiRequest, toGeminiResults } from './gemini-request.ts';
import { GEMINI_RULES } from './gemini-schema.ts';
import { GeminiReader } from './gemini-stream.ts';

export const GEMINI: Dialect = {
  format: 'gemini',
  toTools: (tools, options) =>
    exportTools(tools, options, {
      ...GEMINI_RULES,
      toDefinitions: definitions => {
        const functionDeclarations = definitions.map(({ name, description, schema }) => ({
          name,
          ...(description === undefined ? {} : { description }),
          parametersJsonSchema: schema,
        }));
        return functionDeclarations.length === 0 ? [] : [{ functionDeclarations }];
      },
    }),
  toRequest: toGeminiRequest,
  fromResponse: fromGeminiResponse,
  createReader: () => new GeminiReader(),
  fromCalls: fromGeminiCalls,
  toResults: toGeminiResults,
};
