/**
 * Reads and checks a response of `POST /v1/responses`. The items are kept unchanged, except for those that cannot be sent back: unencrypted
 * reasoning, which the API would have to store, and arguments that cannot be read.
 *
 * Source: OpenAI API reference, "The response object" (platform.openai.com/docs/api-reference/responses/object).
 */
import { z } from 'zod';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { FormatError, type TokenCount, type TurnReply } from './dialect.ts';
import type { CanonicalCall } from './canonical-form.ts';
import { toRawTurn } from './raw-turn.ts';
import { MAX_CALLS, toCanonicalCalls, toTurnCalls, type WrittenCall } from './read-call.ts';
import { asItCame, readAs } from './read-json.ts';
import { isWhole, toTurnEnd, type EndReason } from './turn-end.ts';

const KnownSchema = z.looseObject({
  type: z.string(),
  call_id: z.string().optional(),
  name: z.string().optional(),
  status: z.string().nullish(),
  arguments: z.unknown().optional(),
  encrypted_content: z.string().nullish(),
  content: z.unknown().optional(),
});
export type Item = z.infer<typeof KnownSchema>;
export const ItemSchema = asItCame<Item>(KnownSchema);
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

/** Meaning of `incomplete_details.reason` of an incomplete response. */
const REASONS: ReadonlyMap<string, EndReason> = new Map([
  ['max_output_tokens', 'length'],
  ['content_filter', 'refused'],
]);

/**
 * Returns how a response ended. Without a status, text counts as whole and calls do not. @throws FormatError where it failed or is not
 * finished
 */
function toEnd({ status, incomplete_details: details, output }: Response, isRefused: boolean) {
  if (status && status !== 'completed' && status !== 'incomplete') {
    throw new FormatError('The response failed');
  }
  if (status === 'incomplete') {
    return toTurnEnd(isRefused ? 'refused' : REASONS.get(details?.reason ?? ''), 0);
  }
  const made = (output ?? []).filter(isCall);
  if (isRefused) return 'refused';
  // The item's own status says that it is not whole.
  const isCut = made.some(({ status: state }) => state && state !== 'completed');
  return isCut ? 'interrupted' : toTurnEnd(status ? 'own' : 'end', made.length);
}

/**
 * Builds the reply.
 * @param broken set where the stream broke off after this part of the response
 * @throws FormatError where it failed or is not finished
 */
export function toResponsesReply(response: Response, broken?: 'interrupted'): TurnReply {
  const { output, usage } = response;
  if (!output) throw new FormatError('The response has no output');
  const { text, refusal } = toSaid(output);
  const stop = broken ?? toEnd(response, refusal !== '');
  const calls = toTurnCalls(output.filter(isCall).map(toWritten), stop);
  const tokens: TokenCount | undefined = usage
    ? { input: usage.input_tokens, output: usage.output_tokens }
    : undefined;
  const raw = isWhole(stop)
    ? toRawTurn(
        'openai-responses',
        output.flatMap(item => toKept(item, calls)),
      )
    : undefined;
  return { text: text || refusal, calls, raw, stop, tokens };
}

function toKept(item: Item, calls: readonly CanonicalCall[]): JsonObject[] {
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

const isCall = ({ type }: Item): boolean => type === 'function_call';

function toWritten({ call_id: id, name, arguments: given }: Item): WrittenCall {
  if (name === undefined) throw new FormatError('A function_call has no name');
  return { id, name, arguments: given ?? '' };
}

/** Reads calls where it is unknown how their response ended; each item may have a status of its own. */
function toCalls(items: readonly Item[]): CanonicalCall[] {
  const made = items.filter(isCall);
  if (made.length > MAX_CALLS) throw new FormatError(`More than ${MAX_CALLS} calls at once`);
  return made.flatMap(item => {
    if (!item.status) return toCanonicalCalls([toWritten(item)]);
    return toTurnCalls([toWritten(item)], item.status === 'completed' ? 'calls' : 'interrupted');
  });
}

/** Reads the calls from a response, an item, or a list of items. @throws FormatError */
export function fromResponsesCalls(body: unknown): CanonicalCall[] {
  if (!isObject(body)) return toCalls(readAs(ItemsSchema, body, 'The list of items'));
  if ('output' in body) return [...fromResponsesResponse(body).calls];
  return toCalls([readAs(ItemSchema, body, 'The item')]);
}
