/** One call as a dialect wrote it, made a canonical one: its arguments read, or said what is wrong with them. Pure. */
import { parseWithin } from '../../shared/json/json-spans.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { FormatError } from './dialect.ts';
import type { CanonicalCall } from './canonical-form.ts';
import { toNotMade, unfinishedOf, type TurnEnd } from './turn-end.ts';

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

/**
 * Calls as they were written, of which it is not known that their turn is over: no text at all is no arguments.
 * @throws FormatError where there are too many, or a name or an id is too long
 */
export function toCanonicalCalls(written: readonly WrittenCall[]): CanonicalCall[] {
  return check(written).map(each => toCanonicalCall(each, false));
}

/**
 * The calls of a turn that ended like this: none that can be made unless it ended for them.
 * @param end `calls` where the turn is over
 * @param isEmptyNone whether this end says that a call without any text of arguments has none
 * @throws FormatError as `toCanonicalCalls`
 */
export function toTurnCalls(
  written: readonly WrittenCall[],
  end: TurnEnd,
  isEmptyNone = true,
): CanonicalCall[] {
  const unmade = unfinishedOf(end);
  if (unmade === undefined) return check(written).map(each => toCanonicalCall(each, isEmptyNone));
  const problem = toNotMade(unmade);
  return check(written).map(({ id, name }) => ({
    id: toId(id),
    name,
    arguments: undefined,
    problem,
    unmade,
  }));
}

function check(written: readonly WrittenCall[]): readonly WrittenCall[] {
  if (written.length > MAX_CALLS) throw new FormatError(`More than ${MAX_CALLS} calls at once`);
  const isLong = ({ id = '', name }: WrittenCall) =>
    name.length > MAX_WORD_CHARS || id.length > MAX_WORD_CHARS;
  if (written.some(isLong)) throw new FormatError('The name or id of a call is too long');
  return written;
}

const toId = (id: string | undefined): string => id || `${MADE}${crypto.randomUUID()}`;

function toCanonicalCall(
  { id, name, arguments: given }: WrittenCall,
  isEmptyNone: boolean,
): CanonicalCall {
  const call = { id: toId(id), name };
  if (typeof given === 'string' && given.trim() === '') {
    // Models write nothing at all where a tool takes no arguments; one that was cut off has written nothing either.
    if (isEmptyNone) return { ...call, arguments: {} };
    return { ...call, arguments: undefined, problem: `The arguments are missing; ${AGAIN}` };
  }
  try {
    const read: unknown = typeof given === 'string' ? parseWithin(given) : given;
    if (isObject(read)) return { ...call, arguments: read };
    return { ...call, arguments: undefined, problem: `The arguments are no JSON object; ${AGAIN}` };
  } catch (thrown) {
    const reason = toOneLine(thrown instanceof Error ? thrown.message : '', MAX_REASON_CHARS);
    const problem = `The arguments are not valid JSON (${reason}); ${AGAIN}`;
    return { ...call, arguments: undefined, problem };
  }
}

const AGAIN = 'call again with one JSON object that fits the schema of the tool';

/** How the id of a call begins that was written as of 2023: by the message itself, without an id. */
const FUNCTION = `${MADE}function-`;

/** For a call of a function as of 2023, whose result has to be told in that form. */
export const toFunctionId = (): string => `${FUNCTION}${crypto.randomUUID()}`;

export const isFunctionId = (id: string): boolean => id.startsWith(FUNCTION);

/** Whether a model's own id of a call, and not one made by `toCanonicalCalls`. */
export const isOwnId = (id: string): boolean => !id.startsWith(MADE);

/** Arguments as a dialect takes them back in a conversation: what could not be read is an empty object. */
export const argumentsOf = (call: CanonicalCall): JsonObject => call.arguments ?? {};
