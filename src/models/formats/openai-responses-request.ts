/**
 * Converts a turn request to the body of `POST /v1/responses`. Nothing is stored at the API: each request contains the whole conversation,
 * with the reasoning of earlier turns as received, encrypted.
 *
 * Source: OpenAI API reference, "Create a model response" (platform.openai.com/docs/api-reference/responses/create), and the types of the
 * official client (openai-node, resources/responses): `function_call_output` contains text, or a list with images and files.
 */
import type { JsonObject } from '../../shared/protocol.ts';
import type { TurnRequest } from './dialect.ts';
import type { CanonicalCall, CanonicalMessage, CanonicalResult } from './canonical-form.ts';
import { FAILED } from './openai-chat-request.ts';
import { toStrictAnswer } from './openai-schema.ts';
import { fromRawTurn } from './raw-turn.ts';
import { argumentsOf } from './read-call.ts';
import { isFailed, toParts, type ResultPart } from './result-parts.ts';

export function toResponsesRequest(request: TurnRequest): JsonObject {
  const { system, messages, tools, answer, maxTokens } = request;
  return {
    instructions: system,
    input: messages.flatMap(toItems),
    max_output_tokens: maxTokens,
    store: false,
    ...(tools && tools.tools.length > 0 ? { tools: tools.tools } : {}),
    ...(answer ? { text: { format: { type: 'json_schema', ...toStrictAnswer(answer) } } } : {}),
  };
}

function toItems(message: CanonicalMessage): JsonObject[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'tools') return toResponsesResults(message.results);
  const raw = fromRawTurn('openai-responses', message.raw);
  if (Array.isArray(raw) && raw.length > 0) return raw as JsonObject[];
  const said = message.text === '' ? [] : [{ role: 'assistant', content: message.text }];
  return [...said, ...message.calls.map(toCallItem)];
}

const toCallItem = (call: CanonicalCall): JsonObject => ({
  type: 'function_call',
  call_id: call.id,
  name: call.name,
  arguments: JSON.stringify(argumentsOf(call)),
});

/** Builds one `function_call_output` for each result. */
export function toResponsesResults(results: readonly CanonicalResult[]): JsonObject[] {
  return results.map(({ id, result }) => {
    const parts = toParts(result);
    const head = { type: 'function_call_output', call_id: id };
    if (isFailed(result)) {
      return { ...head, output: `${FAILED}${parts.map(({ text }) => text).join('\n')}` };
    }
    const isText = parts.every(({ kind }) => kind === 'text');
    const output = isText ? parts.map(({ text }) => text).join('\n') : parts.map(toContent);
    return { ...head, output };
  });
}

function toContent(part: ResultPart, index: number): JsonObject {
  if (part.kind === 'text') return { type: 'input_text', text: part.text };
  const url = `data:${part.mimeType};base64,${part.data}`;
  if (part.kind === 'image') return { type: 'input_image', image_url: url };
  return { type: 'input_file', filename: `document-${index + 1}.pdf`, file_data: url };
}
