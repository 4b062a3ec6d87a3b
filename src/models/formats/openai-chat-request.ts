/**
 * Converts a turn request to the body of `POST /v1/chat/completions`. Results become `tool` messages, which can contain only text; their
 * images follow in a labelled user message.
 *
 * Source: OpenAI API reference, "Create chat completion" (platform.openai.com/docs/api-reference/chat/create), and the types of the
 * official client (openai-node, resources/chat/completions).
 */
import type { JsonObject } from '../../shared/protocol.ts';
import { saying } from './chat-members.ts';
import type { TurnRequest } from './dialect.ts';
import type { CanonicalCall, CanonicalMessage, CanonicalResult } from './canonical-form.ts';
import { toStrictAnswer } from './openai-schema.ts';
import { fromRawTurn } from './raw-turn.ts';
import { argumentsOf, isFunctionId, isOwnId } from './read-call.ts';
import { isFailed, toParts, type ResultPart } from './result-parts.ts';

/** Marks a failed result where a message has no member for it. */
export const FAILED = 'The tool failed: ';

export function toChatRequest(request: TurnRequest): JsonObject {
  const { system, messages, tools, answer, maxTokens } = request;
  return {
    messages: [{ role: 'system', content: system }, ...messages.flatMap(toMessages)],
    max_completion_tokens: maxTokens,
    ...(tools && tools.tools.length > 0 ? { tools: tools.tools } : {}),
    ...(answer
      ? { response_format: { type: 'json_schema', json_schema: toStrictAnswer(answer) } }
      : {}),
  };
}

function toMessages(message: CanonicalMessage): JsonObject[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'tools') return toChatResults(message.results);
  const raw = (fromRawTurn('openai-chat', message.raw) ?? {}) as RawMessage;
  const { tool_calls: came = [], function_call: called, ...members } = raw;
  const [only] = message.calls;
  const calls = message.calls.map((call, i) => toToolCall(call, came[i]));
  const rest = calls.length > 0 ? { tool_calls: calls } : {};
  const content = message.text === '' && calls.length > 0 ? null : message.text;
  const made = only && isFunctionId(only.id) ? { function_call: toFunction(only, called) } : rest;
  return [{ role: 'assistant', content, ...members, ...made }];
}

/** A stored turn in this form; it was checked when it arrived. */
interface RawMessage extends JsonObject {
  tool_calls?: (JsonObject & { function?: JsonObject })[];
  function_call?: JsonObject;
}

/** Builds a call from the original one, with any members its server added. */
const toToolCall = (call: CanonicalCall, came: JsonObject & { function?: JsonObject } = {}) => ({
  ...saying(came),
  id: call.id,
  type: 'function',
  function: toFunction(call, came.function),
});

/**
 * Arguments that could not be read are replaced by none, because servers of this format parse them again. Readable ones go back verbatim.
 */
function toFunction(call: CanonicalCall, came: JsonObject = {}): JsonObject {
  const { arguments: given } = came;
  const isText = typeof given === 'string' && given.trim() !== '' && call.arguments !== undefined;
  const text = isText ? given : JSON.stringify(argumentsOf(call));
  return { ...came, name: call.name, arguments: text };
}

/** Builds one `tool` message for each result (`function` in the 2023 format), then a user message with the images, if any. */
export function toChatResults(results: readonly CanonicalResult[]): JsonObject[] {
  const shown: JsonObject[] = [];
  const messages = results.map(({ id, name, result }) => {
    const texts = toParts(result).map(part => {
      if (part.kind !== 'image') return part.text;
      shown.push(
        { type: 'text', text: `Image in the result of ${toLabel(name, id)}:` },
        toImage(part),
      );
      return '[image: see the message after the results]';
    });
    const said = texts.join('\n');
    const content = isFailed(result) ? `${FAILED}${said}` : said;
    if (isFunctionId(id)) return { role: 'function', name, content };
    return { role: 'tool', tool_call_id: id, content };
  });
  return shown.length === 0 ? messages : [...messages, { role: 'user', content: shown }];
}

const toLabel = (name: string, id: string) => (isOwnId(id) ? `${name} (${id})` : name);

const toImage = ({ mimeType, data }: ResultPart & { kind: 'image' | 'document' }): JsonObject => ({
  type: 'image_url',
  image_url: { url: `data:${mimeType};base64,${data}` },
});
