/**
 * Assembles a streamed answer of `streamGenerateContent`: each event is a response with the next parts. Parts are never merged, since a
 * signature belongs to its own part.
 *
 * Source: Gemini API reference, "models.streamGenerateContent", and "Thought signatures", streaming.
 */
import type { SseEvent } from '../../http/sse-events.ts';
import {
  BrokenOff,
  FormatError,
  type TokenCount,
  type TurnReader,
  type TurnReply,
} from './dialect.ts';
import {
  BLOCKED,
  ResponseSchema,
  textOf,
  toGeminiReply,
  toTokens,
  type Part,
} from './gemini-reply.ts';
import { MAX_STREAMED_CHARS, parseAs } from './read-json.ts';
import { joinReasons } from './turn-end.ts';

export class GeminiReader implements TurnReader {
  readonly #parts: Part[] = [];
  #chars = 0;
  #reason: string | undefined;
  #isBlocked = false;
  #said: string | undefined;
  #tokens: TokenCount | undefined;

  read({ data }: SseEvent): string {
    this.#chars += data.length;
    if (this.#chars > MAX_STREAMED_CHARS) throw new FormatError('The answer is too long');
    const response = parseAs(ResponseSchema, data, 'The event');
    if (response.error !== undefined) throw new BrokenOff(this.#toReply('interrupted'));
    const [candidate] = response.candidates ?? [];
    if (response.promptFeedback?.blockReason) this.#isBlocked = true;
    this.#reason = joinReasons(this.#reason, candidate?.finishReason);
    this.#said = candidate?.finishMessage ?? this.#said;
    this.#tokens = toTokens(response.usageMetadata) ?? this.#tokens;
    const parts = candidate?.content?.parts ?? [];
    this.#parts.push(...parts);
    return parts.map(textOf).join('');
  }

  end(): TurnReply {
    const isOver = this.#reason !== undefined || this.#isBlocked;
    if (!isOver) throw new BrokenOff(this.#toReply('interrupted'));
    return this.#toReply(undefined);
  }

  #toReply(broken: 'interrupted' | undefined): TurnReply {
    const reason = this.#isBlocked ? BLOCKED : (this.#reason ?? '');
    return toGeminiReply(this.#parts, reason, this.#tokens, { broken, said: this.#said });
  }
}
