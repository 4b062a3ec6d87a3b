/** The dialect of OpenAI's Chat Completions, which vLLM and many others also speak. */
import type { Dialect } from './dialect.ts';
import { fromChatCalls, fromChatResponse } from './openai-chat-reply.ts';
import { toChatRequest, toChatResults } from './openai-chat-request.ts';
import { ChatReader } from './openai-chat-stream.ts';
import { toChatTools } from './openai-chat-tools.ts';

export const OPENAI_CHAT: Dialect = {
  format: 'openai-chat',
  toTools: toChatTools,
  toRequest: toChatRequest,
  fromResponse: fromChatResponse,
  createReader: () => new ChatReader(),
  fromCalls: fromChatCalls,
  toResults: toChatResults,
};
