/**
 * Assembles a streamed message from its events: blocks start, grow and end, identified by their index. Tool input arrives as pieces of
 * JSON, thoughts and their signatures in deltas of their own.
 *
 * Source: Anthropic docs, "Streaming messages" (platform.claude.com/docs/en/build-with-claude/streaming).
 */
import { z } from 'zod';
import { parseWithin } from '../../shared/json/json-spans.ts';
import type { SseEvent } from '../../http/sse-events.ts';
import {
  BlockSchema,
  toAnthropicReply,
  toTokens,
  UsageSchema,
  type Block,
} from './anthropic-reply.ts';
import {
  BrokenOff,
  FormatError,
  type TokenCount,
  type TurnReader,
  type TurnReply,
} from './dialect.ts';
import { MAX_CALLS } from './read-call.ts';
import { parseAs, Pieces } from './read-json.ts';
import { joinReasons } from './turn-end.ts';

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
      stop_reason: z.string().nullish(),
    })
    .optional(),
  usage: UsageSchema,
});
type Delta = NonNullable<z.infer<typeof EventSchema>['delta']>;

/** Most blocks per answer. */
const MAX_BLOCKS = 4 * MAX_CALLS;

/** A block and what its deltas added. */
interface Begun {
  block: Block;
  /** Pieces of JSON: the input of a tool of the client or of the API. */
  json: Pieces;
  /** All other text that arrives in pieces, by member: text, thoughts, signatures. */
  texts: Map<string, Pieces>;
  citations: unknown[];
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
    if (type === 'error') throw new BrokenOff(this.#toReply('interrupted'));
    if (type === 'message_start') this.#count(event.message?.usage);
    if (type === 'message_stop') this.#isWhole = true;
    if (type === 'message_delta') {
      this.#reason = joinReasons(this.#reason, delta?.stop_reason);
      this.#count(event.usage);
    }
    if (index === undefined) return '';
    if (type === 'content_block_start' && event.content_block) {
      if (this.#blocks.size >= MAX_BLOCKS) throw new FormatError('The answer has too many blocks');
      const block = event.content_block;
      this.#blocks.set(index, { block, json: new Pieces(), texts: new Map(), citations: [] });
      return block.type === 'text' ? (block.text ?? '') : '';
    }
    return type === 'content_block_delta' && delta ? this.#grow(index, delta) : '';
  }

  #grow(index: number, delta: Delta): string {
    const begun = this.#blocks.get(index);
    if (!begun) throw new FormatError('A delta belongs to no block');
    const { type: _type, partial_json: json = '', citation, ...members } = delta;
    begun.json.add(json);
    if (citation !== undefined) begun.citations.push(citation);
    for (const [name, piece] of Object.entries(members)) {
      if (typeof piece !== 'string') continue;
      // A signature arrives whole; a second one replaces the first, as in the official client.
      const before = name === 'signature' ? undefined : begun.texts.get(name);
      const pieces = before ?? new Pieces();
      begun.texts.set(name, pieces);
      pieces.add(piece);
    }
    return begun.block.type === 'text' ? (delta.text ?? '') : '';
  }

  /** The last output count is the total; input is counted at the start and may be repeated later. */
  #count(usage: z.infer<typeof UsageSchema>): void {
    const tokens = toTokens(usage);
    if (!tokens) return;
    this.#input = Math.max(this.#input, tokens.input);
    this.#tokens = { input: this.#input, output: tokens.output };
  }

  end(): TurnReply {
    if (!this.#isWhole) throw new BrokenOff(this.#toReply('interrupted'));
    return this.#toReply(undefined);
  }

  #toReply(broken: 'interrupted' | undefined): TurnReply {
    const byIndex = [...this.#blocks].toSorted(([one], [other]) => one - other);
    const blocks = byIndex.map(([, begun]) => toBlock(begun));
    return toAnthropicReply(blocks, this.#reason, this.#tokens, broken);
  }
}

function toBlock({ block, json, texts, citations }: Begun): Block {
  const grown: Block = { ...block };
  for (const [name, pieces] of texts) grown[name] = `${textOf(block[name])}${pieces.text}`;
  if (json.text !== '') {
    grown.input = block.type === 'tool_use' ? json.text : (toInput(json.text) ?? block.input);
  }
  if (citations.length > 0) grown['citations'] = [...listOf(block['citations']), ...citations];
  return grown;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Parses the input of a tool that the API runs, which goes back with the turn; undefined where it was cut. */
function toInput(text: string): unknown {
  try {
    return parseWithin(text);
  } catch {
    return undefined;
  }
}
