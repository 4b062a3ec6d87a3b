/** The dialect of OpenAI's Chat Completions, which vLLM and many others also speak. */
import type { Dialect } from './dialect.ts';
import { exportTools } from './export-tools.ts';
import { fromChatCalls, fromChatResponse } from './openai-chat-reply.ts';
import { toChatRequest, toChatResults } from './openai-chat-request.ts';
import { ChatReader } from './openai-chat-stream.ts';
import { OPENAI_RULES } from './openai-schema.ts';

export const OPENAI_CHAT: Dialect = {
  format: 'openai-chat',
  toTools: (tools, options) =>
    exportTools(tools, options, {
      ...OPENAI_RULES,
      toDefinitions: definitions =>
        definitions.map(({ name, description, schema, isStrict }) => ({
          type: 'function',
          function: {
            name,
            ...(description === undefined ? {} : { description }),
            parameters: schema,
            ...(isStrict ? { strict: true } : {}),
          },
        })),
    }),
  toRequest: toChatRequest,
  fromResponse: fromChatResponse,
  createReader: () => new ChatReader(),
  fromCalls: fromChatCalls,
  toResults: toChatResults,
};
