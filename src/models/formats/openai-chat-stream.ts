/**
 * Assembles a streamed chat completion from its chunks: text as it arrives, calls from fragments that carry the index of their call.
 *
 * Source: OpenAI API reference, "The chat completion chunk object" (platform.openai.com/docs/api-reference/chat/streaming).
 */
import { z } from 'zod';
import type { SseEvent } from '../../http/sse-events.ts';
import { Members } from './chat-members.ts';
import {
  BrokenOff,
  FormatError,
  type TokenCount,
  type TurnReader,
  type TurnReply,
} from './dialect.ts';
import { toChatReply, toTokens, UsageSchema } from './openai-chat-reply.ts';
import { MAX_CALLS } from './read-call.ts';
import { parseAs, Pieces } from './read-json.ts';
import { joinReasons } from './turn-end.ts';

const FunctionSchema = z
  .looseObject({ name: z.string().nullish(), arguments: z.string().nullish() })
  .nullish();
const ChunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().int().optional(),
        delta: z
          .looseObject({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.looseObject({
                  index: z.number().int().nonnegative().optional(),
                  id: z.string().nullish(),
                  function: FunctionSchema,
                }),
              )
              .nullish(),
            function_call: FunctionSchema,
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
  /** Members unknown to this code. */
  more: Members;
}

const begin = (): Begun => ({
  id: undefined,
  name: '',
  arguments: new Pieces(),
  more: new Members(CALL_MEMBERS),
});

function grow(call: Begun, written: Fragment['function']): void {
  if (call.name === '') call.name = written?.name ?? '';
  call.arguments.add(written?.arguments ?? '');
}

const toFunction = ({ name, arguments: pieces }: Begun) => ({ name, arguments: pieces.text });

const CALL_MEMBERS: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function']);
const MESSAGE_MEMBERS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
]);

export class ChatReader implements TurnReader {
  readonly #text = new Pieces();
  readonly #refusal = new Pieces();
  readonly #calls = new Map<number, Begun>();
  readonly #more = new Members(MESSAGE_MEMBERS);
  /** A call in the 2023 format, made by the message itself. */
  #function: Begun | undefined;
  #last = -1;
  #reason: string | undefined;
  /** Whether a call grew after the finish reason had arrived. */
  #isLate = false;
  #tokens: TokenCount | undefined;

  read({ data }: SseEvent): string {
    if (data.trim() === '[DONE]') return '';
    const { choices, usage, error } = parseAs(ChunkSchema, data, 'The chunk');
    if (error !== undefined && error !== null) throw new BrokenOff(this.#toReply('interrupted'));
    this.#tokens = toTokens(usage) ?? this.#tokens;
    const choice = choices?.find(({ index = 0 }) => index === 0);
    if (!choice) return '';
    const { delta } = choice;
    const { content, refusal, tool_calls: fragments, function_call: called } = delta ?? {};
    this.#text.add(content ?? '');
    this.#refusal.add(refusal ?? '');
    this.#more.add(delta ?? {});
    if (called) {
      this.#isLate ||= this.#function !== undefined && this.#reason !== undefined;
      grow((this.#function ??= begin()), called);
    }
    for (const fragment of fragments ?? []) this.#addFragment(fragment);
    this.#reason = joinReasons(this.#reason, choice.finish_reason);
    return content ?? '';
  }

  /** Compatible servers omit the index; then an id starts a new call. */
  #addFragment(fragment: Fragment): void {
    const { index, id, function: written } = fragment;
    const at = index ?? (id ? this.#calls.size : this.#last);
    const call = this.#calls.get(at) ?? begin();
    if (this.#reason !== undefined && this.#calls.has(at)) this.#isLate = true;
    if (!this.#calls.has(at) && this.#calls.size >= MAX_CALLS) {
      throw new FormatError(`More than ${MAX_CALLS} calls at once`);
    }
    this.#calls.set(at, call);
    this.#last = at;
    call.id ??= id || undefined;
    grow(call, written);
    call.more.add(fragment);
  }

  end(): TurnReply {
    if (this.#reason === undefined) throw new BrokenOff(this.#toReply('interrupted'));
    return this.#toReply(this.#isLate ? 'interrupted' : undefined);
  }

  #toReply(broken: 'interrupted' | undefined): TurnReply {
    const byIndex = [...this.#calls].toSorted(([one], [other]) => one - other);
    const message = {
      ...this.#more.all,
      content: this.#text.text,
      refusal: this.#refusal.text,
      tool_calls: byIndex.map(([, call]) => ({
        ...call.more.all,
        id: call.id,
        function: toFunction(call),
      })),
      ...(this.#function ? { function_call: toFunction(this.#function) } : {}),
    };
    return toChatReply(message, this.#reason, this.#tokens, broken);
  }
}
