/** One call as a dialect wrote it, made one of the hub: its arguments read, or said what is wrong with them. Pure. */
import { parseWithin } from '../lib/json-bounds.ts';
import { toOneLine } from '../lib/one-line.ts';
import { isObject, type JsonObject } from '../protocol.ts';
import { FormatError } from './dialect.ts';
import type { HubCall } from './hub.ts';

/** Most calls that one answer of a model may hold. */
export const MAX_CALLS = 128;
/** Longest name or id of a call, in UTF-16 units. */
const MAX_WORD_CHARS = 512;
/** How an id begins that was made where the dialect has none: it is never told to the model. */
const MADE = 'portico-';
const MAX_REASON_CHARS = 160;

/** What is written of a call. */
export interface WrittenCall {
  id: string | undefined;
  name: string;
  /** Text of JSON, or JSON itself. */
  arguments: unknown;
}

/** @throws FormatError where there are too many, or a name or an id is too long */
export function toHubCalls(written: readonly WrittenCall[]): HubCall[] {
  if (written.length > MAX_CALLS) throw new FormatError(`More than ${MAX_CALLS} calls at once`);
  return written.map(toHubCall);
}

function toHubCall({ id, name, arguments: given }: WrittenCall): HubCall {
  if (name.length > MAX_WORD_CHARS || (id ?? '').length > MAX_WORD_CHARS) {
    throw new FormatError('The name or id of a call is too long');
  }
  const call = { id: id || `${MADE}${crypto.randomUUID()}`, name };
  try {
    const read: unknown = typeof given === 'string' ? parse(given) : given;
    if (isObject(read)) return { ...call, arguments: read };
    return { ...call, arguments: undefined, problem: `The arguments are no JSON object; ${AGAIN}` };
  } catch (thrown) {
    const reason = toOneLine(thrown instanceof Error ? thrown.message : '', MAX_REASON_CHARS);
    const problem = `The arguments are not valid JSON (${reason}); ${AGAIN}`;
    return { ...call, arguments: undefined, problem };
  }
}

const AGAIN = 'call again with one JSON object that fits the schema of the tool';

/** Models write nothing at all where a tool takes no arguments. */
const parse = (text: string): unknown => (text.trim() === '' ? {} : parseWithin(text));

/** Whether a model's own id of a call, and not one made by `toHubCalls`. */
export const isOwnId = (id: string): boolean => !id.startsWith(MADE);

/** Arguments as a dialect takes them back in a conversation: what could not be read is an empty object. */
export const argumentsOf = (call: HubCall): JsonObject => call.arguments ?? {};
