/**
 * Reads and checks a response of `POST /v1/messages`. The blocks are kept unchanged: thoughts are signed and must be sent back whole.
 *
 * Sources: Anthropic API reference, "Create a Message"; "Extended thinking", preserving thinking blocks
 * (platform.claude.com/docs/en/build-with-claude/extended-thinking).
 */
import { z } from 'zod';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { FormatError, type TokenCount, type TurnReply } from './dialect.ts';
import type { CanonicalCall } from './canonical-form.ts';
import { toRawTurn } from './raw-turn.ts';
import { toCanonicalCalls, toTurnCalls, type WrittenCall } from './read-call.ts';
import { asItCame, readAs } from './read-json.ts';
import { isWhole, toTurnEnd, type EndReason } from './turn-end.ts';

const KnownSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});
export type Block = z.infer<typeof KnownSchema>;
export const BlockSchema = asItCame<Block>(KnownSchema);
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

/** Meaning of `stop_reason`; with any other value the turn does not count as whole. */
const REASONS: ReadonlyMap<string, EndReason> = new Map([
  ['tool_use', 'calls'],
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['pause_turn', 'paused'],
  ['refusal', 'refused'],
]);

/**
 * Builds the reply from its blocks.
 * @param blocks a `tool_use` may still have its input as text
 * @param broken set where the blocks are incomplete
 */
export function toAnthropicReply(
  blocks: readonly Block[],
  reason: string | null | undefined,
  tokens: TokenCount | undefined,
  broken?: 'interrupted',
): TurnReply {
  const uses = blocks.filter(isUse);
  const stop = broken ?? toTurnEnd(REASONS.get(reason ?? ''), uses.length);
  const calls = toTurnCalls(uses.map(toWritten), stop);
  const text = blocks.map(block => (block.type === 'text' ? (block.text ?? '') : '')).join('');
  const turn = blocks.flatMap(block => toKept(block, calls));
  const raw = isWhole(stop) ? toRawTurn('anthropic', turn) : undefined;
  return { text, calls, raw, stop, tokens };
}

/** Prepares a block for sending back: the API refuses empty text, and input that is not an object. */
function toKept(block: Block, calls: readonly CanonicalCall[]): JsonObject[] {
  if (block.type === 'text' && (block.text ?? '').trim() === '') return [];
  if (block.type !== 'tool_use') return [block];
  const call = calls.find(({ id }) => id === block.id);
  // The same object where the input came as an object; else with the parsed input, or an empty one where it could not be read.
  return [call?.arguments === block.input ? block : { ...block, input: call?.arguments ?? {} }];
}

/** Counts all input tokens, including those read from or written to a cache. */
export function toTokens(usage: z.infer<typeof UsageSchema>): TokenCount | undefined {
  if (!usage) return undefined;
  const written = usage.cache_creation_input_tokens ?? 0;
  const input = (usage.input_tokens ?? 0) + written + (usage.cache_read_input_tokens ?? 0);
  return { input, output: usage.output_tokens ?? 0 };
}

const isUse = ({ type }: Block): boolean => type === 'tool_use';

function toWritten({ id, name, input }: Block): WrittenCall {
  if (name === undefined) throw new FormatError('A tool_use has no name');
  return { id, name, arguments: input };
}

/** Reads the calls from a response, its message, or a list of blocks. @throws FormatError */
export function fromAnthropicCalls(body: unknown): CanonicalCall[] {
  // Only a whole response has `stop_reason`; a message within a conversation has none.
  if (isObject(body) && 'stop_reason' in body) return [...fromAnthropicResponse(body).calls];
  const content = isObject(body) ? body['content'] : body;
  if (typeof content === 'string') return [];
  return toCanonicalCalls(
    readAs(BlocksSchema, content, 'The content').filter(isUse).map(toWritten),
  );
}
