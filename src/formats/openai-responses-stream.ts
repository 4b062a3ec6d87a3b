/**
 * A streamed response, put together from its events: items that begin, grow and are done, and the whole response at the end. Servers
 * that are compatible may leave the items out of that; then those that came count.
 *
 * Source: OpenAI API reference, "Streaming events" of Responses (platform.openai.com/docs/api-reference/responses-streaming).
 */
import { z } from 'zod';
import type { SseEvent } from '../lib/sse-events.ts';
import { FormatError, type TurnReader, type TurnReply } from './dialect.ts';
import {
  ItemSchema,
  ResponseSchema,
  toResponsesReply,
  type Item,
  type Response,
} from './openai-responses-reply.ts';
import { MAX_CALLS } from './read-call.ts';
import { parseAs, Pieces } from './read-json.ts';

const EventSchema = z.object({
  type: z.string(),
  output_index: z.number().int().nonnegative().optional(),
  item: ItemSchema.optional(),
  delta: z.string().optional().catch(undefined),
  response: z.unknown().optional(),
});
const LastSchema = z.object({ response: ResponseSchema });

/** Most items of one answer. */
const MAX_ITEMS = 4 * MAX_CALLS;
const FAILED: ReadonlySet<string> = new Set(['error', 'response.failed']);
const LAST: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);
const SAID: ReadonlySet<string> = new Set(['response.output_text.delta', 'response.refusal.delta']);

export class ResponsesReader implements TurnReader {
  readonly #items = new Map<number, { item: Item; arguments: Pieces; isDone: boolean }>();
  readonly #text = new Pieces();
  #last: Response | undefined;

  read({ data }: SseEvent): string {
    if (data.trim() === '[DONE]') return '';
    const { type, output_index: index, item, delta } = parseAs(EventSchema, data, 'The event');
    if (FAILED.has(type)) throw new FormatError('The answer broke off');
    if (LAST.has(type)) this.#last = parseAs(LastSchema, data, 'The last event').response;
    if (index !== undefined && item) {
      if (this.#items.size >= MAX_ITEMS) throw new FormatError('The answer has too many items');
      const isDone = type === 'response.output_item.done';
      const pieces = this.#items.get(index)?.arguments ?? new Pieces();
      this.#items.set(index, { item, arguments: pieces, isDone });
    }
    if (index !== undefined && type === 'response.function_call_arguments.delta') {
      const begun = this.#items.get(index);
      if (!begun) throw new FormatError('A delta belongs to no item');
      begun.arguments.add(delta ?? '');
    }
    if (!SAID.has(type)) return '';
    this.#text.add(delta ?? '');
    return type === 'response.output_text.delta' ? (delta ?? '') : '';
  }

  end(): TurnReply {
    if (!this.#last) throw new FormatError('The answer ended before it was whole');
    const { output } = this.#last;
    if (output && output.length > 0) return toResponsesReply(this.#last);
    const byIndex = [...this.#items].toSorted(([one], [other]) => one - other);
    const came = byIndex.map(([, { item, arguments: pieces, isDone }]) =>
      isDone || item.type !== 'function_call' ? item : { ...item, arguments: pieces.text },
    );
    const reply = toResponsesReply({ ...this.#last, output: came });
    return reply.text === '' ? { ...reply, text: this.#text.text } : reply;
  }
}
