/** The dialect of OpenAI's Responses API. */
import type { Dialect } from './dialect.ts';
import { fromResponsesCalls, fromResponsesResponse } from './openai-responses-reply.ts';
import { toResponsesRequest, toResponsesResults } from './openai-responses-request.ts';
import { ResponsesReader } from './openai-responses-stream.ts';
import { toResponsesTools } from './openai-responses-tools.ts';

export const OPENAI_RESPONSES: Dialect = {
  format: 'openai-responses',
  toTools: toResponsesTools,
  toRequest: toResponsesRequest,
  fromResponse: fromResponsesResponse,
  createReader: () => new ResponsesReader(),
  fromCalls: fromResponsesCalls,
  toResults: toResponsesResults,
};
