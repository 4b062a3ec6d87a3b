/**
 * What `generateContent` answered, checked. The parts are kept as they came: they carry signatures of thoughts, also empty ones do.
 *
 * Sources: Gemini API reference, "GenerateContentResponse" (ai.google.dev/api/generate-content); the types of the official client
 * (googleapis/js-genai, src/types.ts).
 */
import { z } from 'zod';
import { isObject } from '../protocol.ts';
import { FormatError, type TokenCount, type TurnReply } from './dialect.ts';
import type { HubCall } from './hub.ts';
import { toRawTurn } from './raw-turn.ts';
import { toHubCalls } from './read-call.ts';
import { readAs } from './read-json.ts';

const CallSchema = z.object({
  id: z.string().nullish(),
  name: z.string(),
  args: z.unknown().optional(),
});
const PartSchema = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  functionCall: CallSchema.loose().optional(),
});
export type Part = z.infer<typeof PartSchema>;
const ContentSchema = z.object({ parts: z.array(PartSchema).nullish() });

const count = z.number().int().nonnegative().nullish();
export const ResponseSchema = z.object({
  candidates: z
    .array(z.object({ content: ContentSchema.nullish(), finishReason: z.string().nullish() }))
    .nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
  usageMetadata: z
    .object({
      promptTokenCount: count,
      candidatesTokenCount: count,
      thoughtsTokenCount: count,
      toolUsePromptTokenCount: count,
    })
    .nullish()
    .catch(undefined),
  error: z.unknown().optional(),
});
type Usage = z.infer<typeof ResponseSchema>['usageMetadata'];

/** Reasons of an end that is neither the model's own nor its limit. */
const BROKEN: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
]);

/** @throws FormatError */
export function fromGeminiResponse(body: unknown): TurnReply {
  const response = readAs(ResponseSchema, body, 'The response');
  const [candidate] = response.candidates ?? [];
  const reason = candidate?.finishReason ?? (response.promptFeedback?.blockReason ? 'SAFETY' : '');
  if (!candidate && reason === '') throw new FormatError('The response has no candidate');
  return toGeminiReply(candidate?.content?.parts ?? [], reason, toTokens(response.usageMetadata));
}

/** @throws FormatError where the API tells that the model's call was none */
export function toGeminiReply(
  parts: readonly Part[],
  reason: string,
  tokens: TokenCount | undefined,
): TurnReply {
  if (BROKEN.has(reason)) throw new FormatError('The model made a call that cannot be read');
  const calls = toCalls(parts);
  const text = parts.map(textOf).join('');
  return { text, calls, raw: toRawTurn('gemini', parts), stop: toStop(reason, calls), tokens };
}

/** What a part says to the user: thoughts are none of it. */
export const textOf = (part: Part): string => (part.thought === true ? '' : (part.text ?? ''));

function toStop(reason: string, calls: readonly HubCall[]): TurnReply['stop'] {
  if (reason === 'MAX_TOKENS') return 'length';
  if (reason !== 'STOP' && reason !== '') return 'refused';
  return calls.length > 0 ? 'calls' : 'end';
}

/** Thoughts are output. */
export function toTokens(usage: Usage): TokenCount | undefined {
  if (!usage) return undefined;
  const input = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
  return { input, output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0) };
}

const toCalls = (parts: readonly Part[]): HubCall[] =>
  toHubCalls(
    parts.flatMap(({ functionCall: call }) =>
      call ? [{ id: call.id ?? undefined, name: call.name, arguments: call.args ?? {} }] : [],
    ),
  );

/** The calls in a response, in its content, or in a list of parts or of calls. @throws FormatError */
export function fromGeminiCalls(body: unknown): HubCall[] {
  if (isObject(body) && 'candidates' in body) return [...fromGeminiResponse(body).calls];
  if (isObject(body)) return toCalls(readAs(ContentSchema, body, 'The content').parts ?? []);
  const listed: unknown = Array.isArray(body) ? body.map(toPart) : body;
  return toCalls(readAs(z.array(PartSchema), listed, 'The list'));
}

const toPart = (each: unknown): unknown =>
  isObject(each) && typeof each['name'] === 'string' && 'args' in each
    ? { functionCall: each }
    : each;
