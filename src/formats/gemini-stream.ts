/**
 * A streamed answer of `streamGenerateContent`, put together: each event is a response with the next parts. Parts are never made one,
 * since a signature belongs to its own part.
 *
 * Source: Gemini API reference, "models.streamGenerateContent", and "Thought signatures", streaming.
 */
import type { SseEvent } from '../lib/sse-events.ts';
import { FormatError, type TokenCount, type TurnReader, type TurnReply } from './dialect.ts';
import { ResponseSchema, textOf, toGeminiReply, toTokens, type Part } from './gemini-reply.ts';
import { MAX_STREAMED_CHARS, parseAs } from './read-json.ts';

export class GeminiReader implements TurnReader {
  readonly #parts: Part[] = [];
  #chars = 0;
  #reason: string | undefined;
  #tokens: TokenCount | undefined;

  read({ data }: SseEvent): string {
    this.#chars += data.length;
    if (this.#chars > MAX_STREAMED_CHARS) throw new FormatError('The answer is too long');
    const response = parseAs(ResponseSchema, data, 'The event');
    if (response.error !== undefined) throw new FormatError('The answer broke off');
    const [candidate] = response.candidates ?? [];
    if (response.promptFeedback?.blockReason) this.#reason = 'SAFETY';
    this.#reason = candidate?.finishReason ?? this.#reason;
    this.#tokens = toTokens(response.usageMetadata) ?? this.#tokens;
    const parts = candidate?.content?.parts ?? [];
    this.#parts.push(...parts);
    return parts.map(textOf).join('');
  }

  end(): TurnReply {
    if (this.#reason === undefined) throw new FormatError('The answer ended before it was whole');
    return toGeminiReply(this.#parts, this.#reason, this.#tokens);
  }
}
