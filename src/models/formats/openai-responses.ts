/** The dialect of OpenAI's Responses API. A tool always has `strict`, because without it the API tries to be strict. */
import type { Dialect } from './dialect.ts';
import { exportTools } from './export-tools.ts';
import { fromResponsesCalls, fromResponsesResponse } from './openai-responses-reply.ts';
import { toResponsesRequest, toResponsesResults } from './openai-responses-request.ts';
import { ResponsesReader } from './openai-responses-stream.ts';
import { OPENAI_RULES } from './openai-schema.ts';

export const OPENAI_RESPONSES: Dialect = {
  format: 'openai-responses',
  toTools: (tools, options) =>
    exportTools(tools, options, {
      ...OPENAI_RULES,
      toDefinitions: definitions =>
        definitions.map(({ name, description, schema, isStrict }) => ({
          type: 'function',
          name,
          ...(description === undefined ? {} : { description }),
          parameters: schema,
          strict: isStrict,
        })),
    }),
  toRequest: toResponsesRequest,
  fromResponse: fromResponsesResponse,
  createReader: () => new ResponsesReader(),
  fromCalls: fromResponsesCalls,
  toResults: toResponsesResults,
};
