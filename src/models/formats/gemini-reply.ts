/**
 * Reads and checks a response of `generateContent`. The parts are kept unchanged: even empty ones carry signatures of thoughts.
 *
 * Sources: Gemini API reference, "GenerateContentResponse" (ai.google.dev/api/generate-content); the types of the official client
 * (googleapis/js-genai, src/types.ts).
 */
import { z } from 'zod';
import { toOneLine } from '../../shared/util/one-line.ts';
import { isObject } from '../../shared/protocol.ts';
import { FormatError, type TokenCount, type TurnReply } from './dialect.ts';
import type { CanonicalCall } from './canonical-form.ts';
import { toRawTurn } from './raw-turn.ts';
import { toCanonicalCalls, toTurnCalls, type WrittenCall } from './read-call.ts';
import { asItCame, readAs } from './read-json.ts';
import { isWhole, toTurnEnd, type EndReason } from './turn-end.ts';

const CallSchema = z.looseObject({
  id: z.string().nullish(),
  name: z.string(),
  args: z.unknown().optional(),
  willContinue: z.boolean().nullish(),
});
type Call = z.infer<typeof CallSchema>;
const KnownSchema = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  functionCall: CallSchema.optional(),
});
export type Part = z.infer<typeof KnownSchema>;
const PartSchema = asItCame<Part>(KnownSchema);
const ContentSchema = z.object({ parts: z.array(PartSchema).nullish() });

const count = z.number().int().nonnegative().nullish();
export const ResponseSchema = z.object({
  candidates: z
    .array(
      z.object({
        content: ContentSchema.nullish(),
        finishReason: z.string().nullish(),
        finishMessage: z.string().nullish().catch(undefined),
      }),
    )
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

/** Meaning of `finishReason`; with any other value the turn does not count as whole. */
const REASONS: ReadonlyMap<string, EndReason> = new Map([
  ['STOP', 'own'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ['MALFORMED_FUNCTION_CALL', 'malformed'],
  ['UNEXPECTED_TOOL_CALL', 'malformed'],
  ['TOO_MANY_TOOL_CALLS', 'malformed'],
  ['SAFETY', 'refused'],
  ['RECITATION', 'refused'],
  ['LANGUAGE', 'refused'],
  ['BLOCKLIST', 'refused'],
  ['PROHIBITED_CONTENT', 'refused'],
  ['SPII', 'refused'],
  ['IMAGE_SAFETY', 'refused'],
  ['IMAGE_PROHIBITED_CONTENT', 'refused'],
  ['IMAGE_RECITATION', 'refused'],
  ['IMAGE_OTHER', 'refused'],
  ['NO_IMAGE', 'refused'],
]);
/** The reason used where the prompt was blocked. */
export const BLOCKED = 'SAFETY';

/** @throws FormatError */
export function fromGeminiResponse(body: unknown): TurnReply {
  const response = readAs(ResponseSchema, body, 'The response');
  const [candidate] = response.candidates ?? [];
  const isBlocked = Boolean(response.promptFeedback?.blockReason);
  if (!candidate && !isBlocked) throw new FormatError('The response has no candidate');
  const reason = isBlocked ? BLOCKED : (candidate?.finishReason ?? '');
  const parts = candidate?.content?.parts ?? [];
  const said = candidate?.finishMessage;
  return toGeminiReply(parts, reason, toTokens(response.usageMetadata), { said });
}

/**
 * Builds the reply from its parts.
 * @param more `broken`: set where the stream broke off after these parts; `said`: the API's message about the end (`finishMessage`)
 * @throws FormatError where there are too many calls
 */
export function toGeminiReply(
  parts: readonly Part[],
  reason: string,
  tokens: TokenCount | undefined,
  { broken, said }: { broken?: 'interrupted' | undefined; said?: string | null | undefined } = {},
): TurnReply {
  const made = parts.flatMap(({ functionCall: call }) => call ?? []);
  const stop = broken ?? (made.some(isPartial) ? 'interrupted' : toEnd(reason, made.length));
  const calls = toTurnCalls(made.map(toWritten), stop);
  const text = parts.map(textOf).join('');
  const raw = isWhole(stop) ? toRawTurn('gemini', parts) : undefined;
  const problem = stop === 'malformed' ? toProblem(reason, said) : undefined;
  return { text, calls, raw, stop, tokens, ...(problem === undefined ? {} : { problem }) };
}

const MALFORMED: ReadonlyMap<string, string> = new Map([
  ['MALFORMED_FUNCTION_CALL', 'The call could not be read'],
  ['UNEXPECTED_TOOL_CALL', 'The call names none of the available tools'],
  ['TOO_MANY_TOOL_CALLS', 'There were too many calls in a row'],
]);
/** Longest message of the API about an unreadable call, in UTF-16 units. */
const MAX_SAID_CHARS = 500;

function toProblem(reason: string, said: string | null | undefined): string {
  const what = MALFORMED.get(reason) ?? 'The call was malformed';
  return said ? `${what}: ${toOneLine(said, MAX_SAID_CHARS)}` : what;
}

const toEnd = (reason: string, calls: number) => toTurnEnd(REASONS.get(reason), calls);

/** Tells whether a call arrives in pieces, which is never requested. */
const isPartial = (call: Call): boolean => call.willContinue === true || 'partialArgs' in call;

/** Returns the text of a part that is meant for the user; thoughts are not. */
export const textOf = (part: Part): string => (part.thought === true ? '' : (part.text ?? ''));

/** Counts tokens; thoughts count as output. */
export function toTokens(usage: Usage): TokenCount | undefined {
  if (!usage) return undefined;
  const input = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
  return { input, output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0) };
}

/** Calls arrive whole; the API omits `args` where a tool takes no arguments. */
const toWritten = ({ id, name, args }: Call): WrittenCall => ({
  id: id ?? undefined,
  name,
  arguments: args ?? {},
});

/** Reads calls where it is unknown how their response ended. */
function toCalls(parts: readonly Part[]): CanonicalCall[] {
  const made = parts.flatMap(({ functionCall: call }) => call ?? []);
  const written = made.map(toWritten);
  return made.some(isPartial) ? toTurnCalls(written, 'interrupted') : toCanonicalCalls(written);
}

/** Reads the calls from a response, its content, or a list of parts or calls. @throws FormatError */
export function fromGeminiCalls(body: unknown): CanonicalCall[] {
  if (isObject(body) && ('candidates' in body || 'promptFeedback' in body)) {
    const { calls, problem } = fromGeminiResponse(body);
    // There is no call to answer, so the owner of the conversation has to inform the model.
    if (problem !== undefined)
      throw new FormatError(`${problem}. Tell the model so, and ask again`);
    return [...calls];
  }
  if (isObject(body)) {
    if (!('parts' in body) && !('role' in body)) {
      throw new FormatError('This is neither a response nor a content nor a list');
    }
    return toCalls(readAs(ContentSchema, body, 'The content').parts ?? []);
  }
  const listed: unknown = Array.isArray(body) ? body.map(toPart) : body;
  return toCalls(readAs(z.array(PartSchema), listed, 'The list'));
}

/** Wraps a bare call: only a call has a name, and one without arguments has no `args`. */
const toPart = (each: unknown): unknown =>
  isObject(each) && typeof each['name'] === 'string' ? { functionCall: each } : each;
