/**
 * A question to a model as the body of `POST /v1/messages`. Results stand in one message of the user; a failed one holds text only, as the
 * API has it.
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

/** Stands where a turn would be empty, which the API refuses. */
const NOTHING = '(nothing)';

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

/** A turn that was paused and what it went on with are one: results of the server's tools stand beside what they are of. */
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
  if (message.role === 'user') return [{ role: 'user', content: message.text || NOTHING }];
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

/** One message of the user with a `tool_result` for each. */
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
  if (part.kind === 'text' || isTextOnly) return { type: 'text', text: part.text || NOTHING };
  const source = { type: 'base64', media_type: part.mimeType, data: part.data };
  return { type: part.kind, source };
}
