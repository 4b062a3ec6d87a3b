/** The dialect of Anthropic's Messages API. */
import { fromAnthropicCalls, fromAnthropicResponse } from './anthropic-reply.ts';
import { toAnthropicRequest, toAnthropicResults } from './anthropic-request.ts';
import { AnthropicReader } from './anthropic-stream.ts';
import { toAnthropicTools } from './anthropic-tools.ts';
import type { Dialect } from './dialect.ts';

export const ANTHROPIC: Dialect = {
  format: 'anthropic',
  toTools: toAnthropicTools,
  toRequest: toAnthropicRequest,
  fromResponse: fromAnthropicResponse,
  createReader: () => new AnthropicReader(),
  fromCalls: fromAnthropicCalls,
  toResults: toAnthropicResults,
};
