/**
 * A streamed chat completion, put together from its chunks: text as it comes, calls from fragments that say by their index what they
 * belong to.
 *
 * Source: OpenAI API reference, "The chat completion chunk object" (platform.openai.com/docs/api-reference/chat/streaming).
 */
import { z } from 'zod';
import type { SseEvent } from '../lib/sse-events.ts';
import { FormatError, type TokenCount, type TurnReader, type TurnReply } from './dialect.ts';
import { toChatReply, toTokens, UsageSchema } from './openai-chat-reply.ts';
import { MAX_CALLS } from './read-call.ts';
import { parseAs, Pieces } from './read-json.ts';

const ChunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.number().int().nonnegative().optional(),
                  id: z.string().nullish(),
                  function: z
                    .object({ name: z.string().nullish(), arguments: z.string().nullish() })
                    .nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: UsageSchema,
  error: z.unknown().optional(),
});
type Delta = NonNullable<NonNullable<z.infer<typeof ChunkSchema>['choices']>[number]['delta']>;
type Fragment = NonNullable<Delta['tool_calls']>[number];

interface Begun {
  id: string | undefined;
  name: string;
  arguments: Pieces;
}

export class ChatReader implements TurnReader {
  readonly #text = new Pieces();
  readonly #refusal = new Pieces();
  readonly #calls = new Map<number, Begun>();
  #last = -1;
  #reason: string | undefined;
  #tokens: TokenCount | undefined;

  read({ data }: SseEvent): string {
    if (data.trim() === '[DONE]') return '';
    const { choices, usage, error } = parseAs(ChunkSchema, data, 'The chunk');
    if (error !== undefined && error !== null) throw new FormatError('The answer broke off');
    this.#tokens = toTokens(usage) ?? this.#tokens;
    const [choice] = choices ?? [];
    if (!choice) return '';
    this.#reason = choice.finish_reason ?? this.#reason;
    const { content, refusal, tool_calls: fragments } = choice.delta ?? {};
    this.#text.add(content ?? '');
    this.#refusal.add(refusal ?? '');
    for (const fragment of fragments ?? []) this.#addFragment(fragment);
    return content ?? '';
  }

  /** Servers that are compatible leave the index out: then an id begins a call. */
  #addFragment({ index, id, function: written }: Fragment): void {
    const at = index ?? (id ? this.#calls.size : this.#last);
    const call = this.#calls.get(at) ?? { id: undefined, name: '', arguments: new Pieces() };
    if (!this.#calls.has(at) && this.#calls.size >= MAX_CALLS) {
      throw new FormatError(`More than ${MAX_CALLS} calls at once`);
    }
    this.#calls.set(at, call);
    this.#last = at;
    call.id ??= id || undefined;
    if (call.name === '') call.name = written?.name ?? '';
    call.arguments.add(written?.arguments ?? '');
  }

  end(): TurnReply {
    if (this.#reason === undefined) throw new FormatError('The answer ended before it was whole');
    const byIndex = [...this.#calls].toSorted(([one], [other]) => one - other);
    const message = {
      content: this.#text.text,
      refusal: this.#refusal.text,
      tool_calls: byIndex.map(([, { id, name, arguments: pieces }]) => ({
        id,
        function: { name, arguments: pieces.text },
      })),
    };
    return toChatReply(message, this.#reason, this.#tokens);
  }
}
