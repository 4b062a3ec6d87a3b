/**
 * What `POST /v1/chat/completions` answered, checked: the text, the calls, why it stopped, the tokens. Servers that are compatible
 * leave members out; what is not needed may be absent.
 *
 * Source: OpenAI API reference, "The chat completion object" (platform.openai.com/docs/api-reference/chat/object).
 */
import { z } from 'zod';
import { isObject } from '../protocol.ts';
import { FormatError, type TokenCount, type TurnReply } from './dialect.ts';
import type { HubCall } from './hub.ts';
import { toRawTurn } from './raw-turn.ts';
import { toHubCalls } from './read-call.ts';
import { readAs } from './read-json.ts';

const ToolCallSchema = z.object({
  id: z.string().nullish(),
  type: z.literal('function').nullish(),
  function: z.object({ name: z.string(), arguments: z.unknown().optional() }),
});
const CallsSchema = z.array(ToolCallSchema);

const MessageSchema = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: CallsSchema.nullish(),
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

export function toChatReply(
  { content, refusal, tool_calls: written }: Message,
  reason: string | null | undefined,
  tokens: TokenCount | undefined,
): TurnReply {
  const calls = toCalls(written ?? []);
  const text = content || refusal || '';
  const isRefused = reason === 'content_filter' || Boolean(refusal);
  const turn = { ...(content ? { content } : {}), ...(refusal ? { refusal } : {}) };
  const raw = toRawTurn('openai-chat', turn);
  return { text, calls, raw, stop: toStop(reason, calls, isRefused), tokens };
}

function toStop(
  reason: string | null | undefined,
  calls: readonly HubCall[],
  isRefused: boolean,
): TurnReply['stop'] {
  if (reason === 'length') return 'length';
  if (isRefused) return 'refused';
  return calls.length > 0 ? 'calls' : 'end';
}

export const toTokens = (usage: z.infer<typeof UsageSchema>): TokenCount | undefined =>
  usage ? { input: usage.prompt_tokens, output: usage.completion_tokens } : undefined;

const toCalls = (written: z.infer<typeof CallsSchema>): HubCall[] =>
  toHubCalls(
    written.map(({ id, function: { name, arguments: given } }) => ({
      id: id ?? undefined,
      name,
      arguments: given ?? '',
    })),
  );

/** The calls in a completion, in its message, or in a list of tool calls. @throws FormatError */
export function fromChatCalls(body: unknown): HubCall[] {
  if (Array.isArray(body)) return toCalls(readAs(CallsSchema, body, 'The list of tool calls'));
  if (isObject(body) && 'choices' in body) return [...fromChatResponse(body).calls];
  if (!isObject(body) || !('role' in body || 'tool_calls' in body)) {
    throw new FormatError('This is neither a completion nor a message nor a list of tool calls');
  }
  return toCalls(readAs(MessageSchema, body, 'The message').tool_calls ?? []);
}
