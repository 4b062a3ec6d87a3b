/**
 * What `POST /v1/chat/completions` answered, checked: the text, the calls, why it stopped, the tokens. Servers that are compatible
 * leave members out; what is not needed may be absent.
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

/** A function as it is called: by a tool call, or, as of 2023, by the message itself. */
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
 * `finish_reason`. A `stop` with calls is what OpenAI gives where one was forced, and what compatible servers give for any; it is also the
 * end at a stop sequence, so that a call without any text of arguments is not whole.
 */
const REASONS: ReadonlyMap<string, EndReason> = new Map([
  ['tool_calls', 'calls'],
  ['function_call', 'calls'],
  ['stop', 'own'],
  ['length', 'length'],
  ['content_filter', 'refused'],
]);

/** How a message ended. Servers that are compatible have reasons of their own, or none: text ends with them, calls do not. */
function toEnd(refusal: string | null | undefined, reason: string, calls: number): TurnEnd {
  const read = REASONS.get(reason);
  if (refusal && read !== 'length') return 'refused';
  return toTurnEnd(read ?? 'end', calls);
}

/** @param broken the message is what had come of it when its stream broke off */
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

/** The message as it goes back: all that came, but the role; sound by its id. */
function toKept({ role: _role, ...message }: Message): JsonObject {
  const { audio } = message;
  return isObject(audio) ? { ...message, audio: { id: audio['id'] } } : message;
}

/** Its tool calls; where it has none, the call of a function as of 2023. */
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

/** The calls in a completion, in its message, or in a list of tool calls. @throws FormatError */
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
