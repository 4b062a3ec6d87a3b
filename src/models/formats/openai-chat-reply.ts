/**
 * Reads and checks a response of `POST /v1/chat/completions`: text, calls, finish reason, tokens. Compatible servers omit members, so
 * members that are not needed may be absent.
 *
 * Source: OpenAI API reference, "The chat completion object" (platform.openai.com/docs/api-reference/chat/object).
 */
import { z } from 'zod';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { saying } from './chat-members.ts';
import { FormatError, type TokenCount, type TurnReply } from './dialect.ts';
import type { CanonicalCall } from './canonical-form.ts';
import { toRawTurn } from './raw-turn.ts';
import { toFunctionId, toCanonicalCalls, toTurnCalls, type WrittenCall } from './read-call.ts';
import { readAs } from './read-json.ts';
import { isWhole, toTurnEnd, type EndReason, type TurnEnd } from './turn-end.ts';

/** A function being called: by a tool call or, in the 2023 format, by the message itself. */
const FunctionSchema = z.looseObject({ name: z.string(), arguments: z.unknown().optional() });
const ToolCallSchema = z.looseObject({
  id: z.string().nullish(),
  type: z.literal('function').nullish(),
  function: FunctionSchema,
});
const CallsSchema = z.array(ToolCallSchema);

const MessageSchema = z.looseObject({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: CallsSchema.nullish(),
  function_call: FunctionSchema.nullish(),
});
type Message = z.infer<typeof MessageSchema>;

export const UsageSchema = z
  .object({
    prompt_tokens: z.number().int().nonnegative(),
    completion_tokens: z.number().int().nonnegative(),
  })
  .nullish()
  .catch(undefined);

const ResponseSchema = z.object({
  choices: z
    .array(z.object({ message: MessageSchema, finish_reason: z.string().nullish() }))
    .min(1),
  usage: UsageSchema,
});

/** @throws FormatError */
export function fromChatResponse(body: unknown): TurnReply {
  const { choices, usage } = readAs(ResponseSchema, body, 'The completion');
  const [choice] = choices;
  if (!choice) throw new FormatError('The completion has no choice');
  return toChatReply(choice.message, choice.finish_reason, toTokens(usage));
}

/**
 * Meaning of `finish_reason`. OpenAI sends `stop` after a forced call, and compatible servers after any call. `stop` is also the end at a
 * stop sequence, so a call without argument text is then not whole.
 */
const REASONS: ReadonlyMap<string, EndReason> = new Map([
  ['tool_calls', 'calls'],
  ['function_call', 'calls'],
  ['stop', 'own'],
  ['length', 'length'],
  ['content_filter', 'refused'],
]);

/** Returns how a message ended. Compatible servers use other reasons or none: with these, text counts as whole, calls do not. */
function toEnd(refusal: string | null | undefined, reason: string, calls: number): TurnEnd {
  const read = REASONS.get(reason);
  if (refusal && read !== 'length') return 'refused';
  return toTurnEnd(read ?? 'end', calls);
}

/** @param broken set where the stream broke off after this part of the message */
export function toChatReply(
  message: Message,
  reason: string | null | undefined,
  tokens: TokenCount | undefined,
  broken?: 'interrupted',
): TurnReply {
  const { content, refusal } = message;
  const written = toWrittenCalls(message);
  const stop = broken ?? toEnd(refusal, reason ?? '', written.length);
  const calls = toTurnCalls(written, stop, reason !== 'stop');
  const text = content || refusal || '';
  const raw = isWhole(stop) ? toRawTurn('openai-chat', saying(toKept(message))) : undefined;
  return { text, calls, raw, stop, tokens };
}

/** Prepares the message for sending back: everything except the role; audio by its id. */
function toKept({ role: _role, ...message }: Message): JsonObject {
  const { audio } = message;
  return isObject(audio) ? { ...message, audio: { id: audio['id'] } } : message;
}

/** Returns the tool calls; without any, the function call of the 2023 format. */
function toWrittenCalls({ tool_calls: calls, function_call: call }: Message): WrittenCall[] {
  if (calls && calls.length > 0) return calls.map(toWritten);
  return call ? [{ ...toWritten({ function: call }), id: toFunctionId() }] : [];
}

export const toTokens = (usage: z.infer<typeof UsageSchema>): TokenCount | undefined =>
  usage ? { input: usage.prompt_tokens, output: usage.completion_tokens } : undefined;

const toWritten = ({ id, function: call }: z.infer<typeof ToolCallSchema>): WrittenCall => ({
  id: id ?? undefined,
  name: call.name,
  arguments: call.arguments ?? '',
});

/** Reads the calls from a completion, its message, or a list of tool calls. @throws FormatError */
export function fromChatCalls(body: unknown): CanonicalCall[] {
  if (Array.isArray(body)) {
    return toCanonicalCalls(readAs(CallsSchema, body, 'The list of tool calls').map(toWritten));
  }
  if (isObject(body) && 'choices' in body) return [...fromChatResponse(body).calls];
  if (!isObject(body) || !['role', 'tool_calls', 'function_call'].some(name => name in body)) {
    throw new FormatError('This is neither a completion nor a message nor a list of tool calls');
  }
  const message = readAs(MessageSchema, body, 'The message');
  const written = toWrittenCalls(message);
  return message.refusal ? toTurnCalls(written, 'refused') : toCanonicalCalls(written);
}
