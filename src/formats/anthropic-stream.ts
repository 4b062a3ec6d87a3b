/**
 * A streamed message, put together from its events: blocks that begin, grow and end, by their index. Input of a tool comes as pieces of
 * JSON, thoughts and their signatures in deltas of their own.
 *
 * Source: Anthropic docs, "Streaming messages" (platform.claude.com/docs/en/build-with-claude/streaming).
 */
import { z } from 'zod';
import type { SseEvent } from '../lib/sse-events.ts';
import {
  BlockSchema,
  toAnthropicReply,
  toTokens,
  UsageSchema,
  type Block,
} from './anthropic-reply.ts';
import { FormatError, type TokenCount, type TurnReader, type TurnReply } from './dialect.ts';
import { MAX_CALLS } from './read-call.ts';
import { parseAs, Pieces } from './read-json.ts';

const EventSchema = z.object({
  type: z.string(),
  message: z.object({ usage: UsageSchema }).optional(),
  index: z.number().int().nonnegative().optional(),
  content_block: BlockSchema.optional(),
  delta: z
    .looseObject({
      type: z.string().optional(),
      text: z.string().optional(),
      partial_json: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      stop_reason: z.string().nullish(),
    })
    .optional(),
  usage: UsageSchema,
});
type Delta = NonNullable<z.infer<typeof EventSchema>['delta']>;

/** Most blocks of one answer. */
const MAX_BLOCKS = 4 * MAX_CALLS;

interface Begun {
  block: Block;
  text: Pieces;
  json: Pieces;
  thinking: Pieces;
  signature: Pieces;
}

export class AnthropicReader implements TurnReader {
  readonly #blocks = new Map<number, Begun>();
  #reason: string | undefined;
  #input = 0;
  #tokens: TokenCount | undefined;
  #isWhole = false;

  read({ data }: SseEvent): string {
    const event = parseAs(EventSchema, data, 'The event');
    const { type, index, delta } = event;
    if (type === 'error') throw new FormatError('The answer broke off');
    if (type === 'message_start') this.#count(event.message?.usage);
    if (type === 'message_stop') this.#isWhole = true;
    if (type === 'message_delta') {
      this.#reason = delta?.stop_reason ?? this.#reason;
      this.#count(event.usage);
    }
    if (index === undefined) return '';
    if (type === 'content_block_start' && event.content_block) {
      if (this.#blocks.size >= MAX_BLOCKS) throw new FormatError('The answer has too many blocks');
      const pieces = () => new Pieces();
      const block = event.content_block;
      const begun = { text: pieces(), json: pieces(), thinking: pieces(), signature: pieces() };
      this.#blocks.set(index, { block, ...begun });
      begun.text.add(block.text ?? '');
      return block.type === 'text' ? (block.text ?? '') : '';
    }
    return type === 'content_block_delta' && delta ? this.#grow(index, delta) : '';
  }

  #grow(index: number, delta: Delta): string {
    const begun = this.#blocks.get(index);
    if (!begun) throw new FormatError('A delta belongs to no block');
    begun.text.add(delta.text ?? '');
    begun.json.add(delta.partial_json ?? '');
    begun.thinking.add(delta.thinking ?? '');
    begun.signature.add(delta.signature ?? '');
    return begun.block.type === 'text' ? (delta.text ?? '') : '';
  }

  /** The last count is of all output; what was read is told at the start, and may be told again. */
  #count(usage: z.infer<typeof UsageSchema>): void {
    const tokens = toTokens(usage);
    if (!tokens) return;
    this.#input = Math.max(this.#input, tokens.input);
    this.#tokens = { input: this.#input, output: tokens.output };
  }

  end(): TurnReply {
    if (!this.#isWhole) throw new FormatError('The answer ended before it was whole');
    const byIndex = [...this.#blocks].toSorted(([one], [other]) => one - other);
    const blocks = byIndex.map(([, begun]) => toBlock(begun));
    return toAnthropicReply(blocks, this.#reason, this.#tokens);
  }
}

function toBlock({ block, text, json, thinking, signature }: Begun): Block {
  if (block.type === 'text') return { ...block, text: text.text };
  if (block.type === 'tool_use') return { ...block, input: json.text === '' ? {} : json.text };
  if (block.type !== 'thinking') return block;
  const signed = signature.text === '' ? {} : { signature: signature.text };
  return { ...block, thinking: thinking.text, ...signed };
}
