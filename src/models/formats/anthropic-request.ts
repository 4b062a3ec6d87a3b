/**
 * Converts a turn request to the body of `POST /v1/messages`. All results go into one user message; a failed result contains text only, as
 * the API requires.
 *
 * Sources: Anthropic API reference, "Create a Message", and "Handle tool calls" (platform.claude.com/docs/en/api/messages/create,
 * docs/en/agents-and-tools/tool-use/handle-tool-calls); the types of the official client (anthropic-sdk-typescript, resources/messages).
 */
import type { JsonObject } from '../../shared/protocol.ts';
import { toAnthropicAnswer } from './anthropic-schema.ts';
import type { TurnRequest } from './dialect.ts';
import type { CanonicalCall, CanonicalMessage, CanonicalResult } from './canonical-form.ts';
import { fromRawTurn } from './raw-turn.ts';
import { argumentsOf } from './read-call.ts';
import { isFailed, toParts, type ResultPart } from './result-parts.ts';

/** Placeholder for a text without anything but white space, which the API refuses. */
const NOTHING = '(nothing)';

const orNothing = (text: string): string => (text.trim() === '' ? NOTHING : text);

export function toAnthropicRequest(request: TurnRequest): JsonObject {
  const { system, messages, tools, answer, maxTokens } = request;
  const schema = answer && toAnthropicAnswer(answer.schema);
  return {
    ...(system === '' ? {} : { system }),
    messages: toTurns(messages),
    max_tokens: maxTokens,
    ...(tools && tools.tools.length > 0 ? { tools: tools.tools } : {}),
    ...(schema ? { output_config: { format: { type: 'json_schema', schema } } } : {}),
  };
}

/** Joins a paused turn with its continuation, so that results of the API's own tools stay beside their calls. */
function toTurns(messages: readonly CanonicalMessage[]): JsonObject[] {
  const turns: JsonObject[] = [];
  let isPaused = false;
  for (const message of messages) {
    const [first, ...rest] = toMessages(message);
    const last = turns.at(-1);
    if (isPaused && message.role === 'assistant' && first && last) {
      last['content'] = [...(last['content'] as unknown[]), ...(first['content'] as unknown[])];
    } else if (first) turns.push(first, ...rest);
    isPaused = message.role === 'assistant' && message.isPaused === true;
  }
  return turns;
}

function toMessages(message: CanonicalMessage): JsonObject[] {
  if (message.role === 'tools') return toAnthropicResults(message.results);
  if (message.role === 'user') return [{ role: 'user', content: orNothing(message.text) }];
  const raw = fromRawTurn('anthropic', message.raw);
  const content = Array.isArray(raw) && raw.length > 0 ? (raw as unknown[]) : toBlocks(message);
  return [{ role: 'assistant', content }];
}

function toBlocks({
  text,
  calls,
}: {
  text: string;
  calls: readonly CanonicalCall[];
}): JsonObject[] {
  const said = text.trim() === '' ? [] : [{ type: 'text', text }];
  const uses = calls.map(call => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input: argumentsOf(call),
  }));
  const blocks = [...said, ...uses];
  return blocks.length > 0 ? blocks : [{ type: 'text', text: NOTHING }];
}

/** Builds one user message with a `tool_result` for each result. */
export function toAnthropicResults(results: readonly CanonicalResult[]): JsonObject[] {
  if (results.length === 0) return [];
  const content = results.map(({ id, result }) => {
    const failed = isFailed(result);
    const blocks = toParts(result).map(part => toBlock(part, failed));
    const block = { type: 'tool_result', tool_use_id: id, content: blocks };
    return failed ? { ...block, is_error: true } : block;
  });
  return [{ role: 'user', content }];
}

function toBlock(part: ResultPart, isTextOnly: boolean): JsonObject {
  if (part.kind === 'text' || isTextOnly) return { type: 'text', text: orNothing(part.text) };
  const source = { type: 'base64', media_type: part.mimeType, data: part.data };
  return { type: part.kind, source };
}
