/**
 * What `POST /v1/messages` answered, checked. The blocks are kept as they came: thoughts have signatures and must be sent back whole.
 *
 * Sources: Anthropic API reference, "Create a Message"; "Extended thinking", preserving thinking blocks
 * (platform.claude.com/docs/en/build-with-claude/extended-thinking).
 */
import { z } from 'zod';
import { isObject, type JsonObject } from '../protocol.ts';
import { FormatError, type TokenCount, type TurnReply } from './dialect.ts';
import type { HubCall } from './hub.ts';
import { toRawTurn } from './raw-turn.ts';
import { toHubCalls } from './read-call.ts';
import { readAs } from './read-json.ts';

export const BlockSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});
export type Block = z.infer<typeof BlockSchema>;
const BlocksSchema = z.array(BlockSchema);

const count = z.number().int().nonnegative();
export const UsageSchema = z
  .object({
    input_tokens: count.nullish(),
    cache_creation_input_tokens: count.nullish(),
    cache_read_input_tokens: count.nullish(),
    output_tokens: count.nullish(),
  })
  .nullish()
  .catch(undefined);

const MessageSchema = z.object({
  content: BlocksSchema,
  stop_reason: z.string().nullish(),
  usage: UsageSchema,
});

/** @throws FormatError */
export function fromAnthropicResponse(body: unknown): TurnReply {
  const { content, stop_reason: reason, usage } = readAs(MessageSchema, body, 'The message');
  return toAnthropicReply(content, reason, toTokens(usage));
}

/** @param blocks of which a `tool_use` may still have its input as text */
export function toAnthropicReply(
  blocks: readonly Block[],
  reason: string | null | undefined,
  tokens: TokenCount | undefined,
): TurnReply {
  const calls = toCalls(blocks);
  const text = blocks.map(block => (block.type === 'text' ? (block.text ?? '') : '')).join('');
  const turn = blocks.flatMap(block => toKept(block, calls));
  return { text, calls, raw: toRawTurn('anthropic', turn), stop: toStop(reason, calls), tokens };
}

/** A block as it is sent back: empty text is refused, and so is input that is no object. */
function toKept(block: Block, calls: readonly HubCall[]): JsonObject[] {
  if (block.type === 'text' && (block.text ?? '').trim() === '') return [];
  if (block.type !== 'tool_use') return [block];
  const call = calls.find(({ id }) => id === block.id);
  return [{ ...block, input: call?.arguments ?? {} }];
}

function toStop(reason: string | null | undefined, calls: readonly HubCall[]): TurnReply['stop'] {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  if (reason === 'refusal') return 'refused';
  return calls.length > 0 ? 'calls' : 'end';
}

/** All tokens that were read, also those that a cache had. */
export function toTokens(usage: z.infer<typeof UsageSchema>): TokenCount | undefined {
  if (!usage) return undefined;
  const written = usage.cache_creation_input_tokens ?? 0;
  const input = (usage.input_tokens ?? 0) + written + (usage.cache_read_input_tokens ?? 0);
  return { input, output: usage.output_tokens ?? 0 };
}

function toCalls(blocks: readonly Block[]): HubCall[] {
  const uses = blocks.filter(({ type }) => type === 'tool_use');
  return toHubCalls(
    uses.map(({ id, name, input }) => {
      if (name === undefined) throw new FormatError('A tool_use has no name');
      return { id, name, arguments: input };
    }),
  );
}

/** The calls in a response, in its message, or in a list of blocks. @throws FormatError */
export function fromAnthropicCalls(body: unknown): HubCall[] {
  const content = isObject(body) ? body['content'] : body;
  if (typeof content === 'string') return [];
  return toCalls(readAs(BlocksSchema, content, 'The content'));
}
