/** The dialects by their names. */
import { fromAnthropicCalls, fromAnthropicResponse } from './anthropic-reply.ts';
import { toAnthropicRequest, toAnthropicResults } from './anthropic-request.ts';
import { ANTHROPIC_RULES } from './anthropic-schema.ts';
import { AnthropicReader } from './anthropic-stream.ts';
import type { Dialect, Format } from './dialect.ts';
import { exportTools, type ExportRules } from './export-tools.ts';
import { fromGeminiCalls, fromGeminiResponse } from './gemini-reply.ts';
import { toGeminiRequest, toGeminiResults } from './gemini-request.ts';
import { GEMINI_RULES } from './gemini-schema.ts';
import { GeminiReader } from './gemini-stream.ts';
import { toFittingNames } from './names.ts';
import { fromChatCalls, fromChatResponse } from './openai-chat-reply.ts';
import { toChatRequest, toChatResults } from './openai-chat-request.ts';
import { ChatReader } from './openai-chat-stream.ts';
import { fromResponsesCalls, fromResponsesResponse } from './openai-responses-reply.ts';
import { toResponsesRequest, toResponsesResults } from './openai-responses-request.ts';
import { ResponsesReader } from './openai-responses-stream.ts';
import { OPENAI_CHAT_RULES, OPENAI_RESPONSES_RULES } from './openai-schema.ts';

type Form = Omit<Dialect, 'format' | 'toTools'> & { rules: ExportRules };

const FORMS: Record<Format, Form> = {
  'openai-chat': {
    rules: OPENAI_CHAT_RULES,
    toRequest: toChatRequest,
    fromResponse: fromChatResponse,
    createReader: () => new ChatReader(),
    fromCalls: fromChatCalls,
    toResults: toChatResults,
  },
  'openai-responses': {
    rules: OPENAI_RESPONSES_RULES,
    toRequest: toResponsesRequest,
    fromResponse: fromResponsesResponse,
    createReader: () => new ResponsesReader(),
    fromCalls: fromResponsesCalls,
    toResults: toResponsesResults,
  },
  anthropic: {
    rules: ANTHROPIC_RULES,
    toRequest: toAnthropicRequest,
    fromResponse: fromAnthropicResponse,
    createReader: () => new AnthropicReader(),
    fromCalls: fromAnthropicCalls,
    toResults: toAnthropicResults,
  },
  gemini: {
    rules: GEMINI_RULES,
    toRequest: toGeminiRequest,
    fromResponse: fromGeminiResponse,
    createReader: () => new GeminiReader(),
    fromCalls: fromGeminiCalls,
    toResults: toGeminiResults,
  },
};

/** Returns the dialect of a format. */
export function dialectOf(format: Format): Dialect {
  const { rules, ...form } = FORMS[format];
  return { format, toTools: (tools, options) => exportTools(tools, options, rules), ...form };
}

/** Maps the names of tools to their names in a format. */
export const toDialectNames = (
  format: Format,
  tools: readonly { name: string }[],
): Map<string, string> =>
  toFittingNames(
    tools.map(({ name }) => name),
    FORMS[format].rules.names,
  );
