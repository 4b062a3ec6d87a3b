/** Converts calls written in a dialect to canonical ones: reads their arguments, or states what is wrong with them. Pure. */
import { parseWithin } from '../../shared/json/json-spans.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { FormatError } from './dialect.ts';
import type { CanonicalCall } from './canonical-form.ts';
import { toNotMade, unfinishedOf, type TurnEnd } from './turn-end.ts';

/** Most calls in one answer of a model. */
export const MAX_CALLS = 128;
/** Longest name or id of a call, in UTF-16 units. */
const MAX_WORD_CHARS = 512;
/** Prefix of an id generated where the dialect has none; such an id is never sent to the model. */
const MADE = 'portico-';
const MAX_REASON_CHARS = 160;

/** A call as the dialect wrote it. */
export interface WrittenCall {
  id: string | undefined;
  name: string;
  /** JSON text, or a JSON value. */
  arguments: unknown;
}

/**
 * Converts calls whose turn may not be over: missing argument text counts as missing arguments.
 * @throws FormatError where there are too many, or a name or id is too long
 */
export function toCanonicalCalls(written: readonly WrittenCall[]): CanonicalCall[] {
  return check(written).map(each => toCanonicalCall(each, false));
}

/**
 * Converts the calls of a turn with this end; they can be made only if it ended with calls.
 * @param end `calls` where the turn waits for results
 * @param isEmptyNone whether, with this end, a call without argument text is a call without arguments
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
    // Models write nothing where a tool takes no arguments, but a call that was cut off may also be empty.
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

/** Prefix of the id of a call in the 2023 format, which the message makes without an id. */
const FUNCTION = `${MADE}function-`;

/** Generates the id of a call in the 2023 format, whose result must be sent in that format. */
export const toFunctionId = (): string => `${FUNCTION}${crypto.randomUUID()}`;

export const isFunctionId = (id: string): boolean => id.startsWith(FUNCTION);

/** Tells whether an id is the model's own, not one generated here. */
export const isOwnId = (id: string): boolean => !id.startsWith(MADE);

/** Returns arguments for sending back in a conversation; an empty object where they could not be read. */
export const argumentsOf = (call: CanonicalCall): JsonObject => call.arguments ?? {};
