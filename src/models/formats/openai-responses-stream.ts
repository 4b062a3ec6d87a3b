/**
 * Assembles a streamed response from its events: items start, grow and are done, and the last event has the whole response. Compatible
 * servers may leave the items out of the last event; then the streamed ones count.
 *
 * Source: OpenAI API reference, "Streaming events" of Responses (platform.openai.com/docs/api-reference/responses-streaming).
 */
import { z } from 'zod';
import type { SseEvent } from '../../http/sse-events.ts';
import { BrokenOff, FormatError, type TurnReader, type TurnReply } from './dialect.ts';
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

/** Most items per answer. */
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
    if (FAILED.has(type)) throw new BrokenOff(this.#toPartial());
    if (LAST.has(type)) {
      const { response } = parseAs(LastSchema, data, 'The last event');
      // Compatible servers omit the status; the event's type implies it.
      this.#last = { ...response, status: response.status ?? type.slice('response.'.length) };
    }
    if (index !== undefined && item) {
      const isDone = type === 'response.output_item.done';
      const pieces = this.#items.get(index)?.arguments ?? new Pieces();
      this.#items.set(index, { item, arguments: pieces, isDone });
      if (this.#items.size > MAX_ITEMS) throw new FormatError('The answer has too many items');
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
    if (!this.#last) throw new BrokenOff(this.#toPartial());
    const { output } = this.#last;
    if (output && output.length > 0) return toResponsesReply(this.#last);
    const reply = this.#withText(toResponsesReply({ ...this.#last, output: this.#came() }));
    const isDone = [...this.#items.values()].every(item => item.isDone);
    // An item that never completed cannot be sent back as it came.
    return isDone ? reply : { ...reply, raw: undefined };
  }

  #toPartial(): TurnReply {
    return this.#withText(toResponsesReply({ output: this.#came() }, 'interrupted'));
  }

  #withText(reply: TurnReply): TurnReply {
    return reply.text === '' ? { ...reply, text: this.#text.text } : reply;
  }

  /** Returns the streamed items. A call that is not done and has no arguments yet counts as incomplete, whatever its own status. */
  #came(): Item[] {
    const byIndex = [...this.#items].toSorted(([one], [other]) => one - other);
    return byIndex.map(([, { item, arguments: pieces, isDone }]) => {
      if (isDone || item.type !== 'function_call') return item;
      const { text } = pieces;
      return { ...item, arguments: text, ...(text === '' ? { status: 'incomplete' } : {}) };
    });
  }
}
