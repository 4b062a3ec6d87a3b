/**
 * What `POST /v1/responses` answered, checked. The items are kept as they came, but for what cannot be sent back: reasoning that is not
 * encrypted would have to be stored there, and arguments that cannot be read.
 *
 * Source: OpenAI API reference, "The response object" (platform.openai.com/docs/api-reference/responses/object).
 */
import { z } from 'zod';
import { isObject, type JsonObject } from '../protocol.ts';
import { FormatError, type TokenCount, type TurnReply } from './dialect.ts';
import type { HubCall } from './hub.ts';
import { toRawTurn } from './raw-turn.ts';
import { toHubCalls } from './read-call.ts';
import { readAs } from './read-json.ts';

export const ItemSchema = z.looseObject({
  type: z.string(),
  call_id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.unknown().optional(),
  encrypted_content: z.string().nullish(),
  content: z.unknown().optional(),
});
export type Item = z.infer<typeof ItemSchema>;
const ItemsSchema = z.array(ItemSchema);

const TextSchema = z.array(
  z.looseObject({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() }),
);

export const ResponseSchema = z.object({
  status: z.string().nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  output: ItemsSchema.nullish(),
  usage: z
    .object({
      input_tokens: z.number().int().nonnegative(),
      output_tokens: z.number().int().nonnegative(),
    })
    .nullish()
    .catch(undefined),
});
export type Response = z.infer<typeof ResponseSchema>;

/** @throws FormatError */
export function fromResponsesResponse(body: unknown): TurnReply {
  return toResponsesReply(readAs(ResponseSchema, body, 'The response'));
}

/** @throws FormatError where it failed or is not done */
export function toResponsesReply({
  status,
  incomplete_details,
  output,
  usage,
}: Response): TurnReply {
  if (status && status !== 'completed' && status !== 'incomplete') {
    throw new FormatError('The response failed');
  }
  if (!output) throw new FormatError('The response has no output');
  const calls = toCalls(output);
  const { text, refusal } = toSaid(output);
  const reason = status === 'incomplete' ? (incomplete_details?.reason ?? '') : undefined;
  const isRefused = reason === 'content_filter' || refusal !== '';
  const stop = reason !== undefined && !isRefused ? 'length' : calls.length > 0 ? 'calls' : 'end';
  const tokens: TokenCount | undefined = usage
    ? { input: usage.input_tokens, output: usage.output_tokens }
    : undefined;
  const raw = toRawTurn(
    'openai-responses',
    output.flatMap(item => toKept(item, calls)),
  );
  return { text: text || refusal, calls, raw, stop: isRefused ? 'refused' : stop, tokens };
}

function toKept(item: Item, calls: readonly HubCall[]): JsonObject[] {
  if (item.type === 'reasoning' && !item.encrypted_content) return [];
  if (item.type !== 'function_call') return [item];
  const call = calls.find(({ id }) => id === item.call_id);
  return [call?.arguments === undefined ? { ...item, arguments: '{}' } : item];
}

function toSaid(items: readonly Item[]): { text: string; refusal: string } {
  const messages = items.filter(({ type }) => type === 'message');
  const parts = messages.flatMap(({ content }) => readAs(TextSchema, content ?? [], 'The message'));
  const text = parts.map(part => (part.type === 'output_text' ? (part.text ?? '') : '')).join('');
  return { text, refusal: parts.map(part => part.refusal ?? '').join('') };
}

function toCalls(items: readonly Item[]): HubCall[] {
  const made = items.filter(({ type }) => type === 'function_call');
  return toHubCalls(
    made.map(({ call_id: id, name, arguments: given }) => {
      if (name === undefined) throw new FormatError('A function_call has no name');
      return { id, name, arguments: given ?? '' };
    }),
  );
}

/** The calls in a response, or in a list of its items. @throws FormatError */
export function fromResponsesCalls(body: unknown): HubCall[] {
  if (!isObject(body)) return toCalls(readAs(ItemsSchema, body, 'The list of items'));
  if ('output' in body) return [...fromResponsesResponse(body).calls];
  return toCalls([readAs(ItemSchema, body, 'The item')]);
}
