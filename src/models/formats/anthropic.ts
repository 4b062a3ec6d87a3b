/** The dialect of Anthropic's Messages API. */
import { fromAnthropicCalls, fromAnthropicResponse } from './anthropic-reply.ts';
import { toAnthropicRequest, toAnthropicResults } from './anthropic-request.ts';
import { ANTHROPIC_RULES } from './anthropic-schema.ts';
import { AnthropicReader } from './anthropic-stream.ts';
import type { Dialect } from './dialect.ts';
import { exportTools } from './export-tools.ts';

export const ANTHROPIC: Dialect = {
  format: 'anthropic',
  toTools: (tools, options) =>
    exportTools(tools, options, {
      ...ANTHROPIC_RULES,
      toDefinitions: definitions =>
        definitions.map(({ name, description, schema, isStrict }) => ({
          name,
          ...(description === undefined ? {} : { description }),
          input_schema: schema,
          ...(isStrict ? { strict: true } : {}),
        })),
    }),
  toRequest: toAnthropicRequest,
  fromResponse: fromAnthropicResponse,
  createReader: () => new AnthropicReader(),
  fromCalls: fromAnthropicCalls,
  toResults: toAnthropicResults,
};
