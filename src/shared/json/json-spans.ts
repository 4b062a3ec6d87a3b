/**
 * Reads JSON by its text. Where the members of an object stand, so that a message can be changed in one place and forwarded with every
 * other byte as it came: numbers keep their digits, keys their order, unknown fields their form. How deep a text is nested and how many
 * members it has, counted before anything is made of it, so that nothing that walks a value meets one that it could not walk. And ids
 * that no JavaScript number holds, which `JSON.parse` rounds. Pure, linear.
 *
 * Invariant: the text has been accepted by `JSON.parse` before, but where it says otherwise; nothing here validates. Bounds are safe on
 * text that is no JSON.
 */
import { MAX_NAME_CHARS } from '../util/name-limits.ts';

/** The members of an object as raw JSON text by key; of equal keys the last one counts. */
export type RawObject = Map<string, string>;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Index after any white space at `at`. */
export function skipSpace(text: string, at: number): number {
  let i = at;
  while (text.charCodeAt(i) <= 0x20) i += 1;
  return i;
}

/** Index of the quote that ends the string which starts with the one at `at`; the end of a text that is no JSON. */
export function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

/** Index after the string that starts with the quote at `at`. */
export const skipString = (text: string, at: number): number => endOfString(text, at) + 1;

/** Index after the value that starts at `at`. @throws SyntaxError where it has no end */
export function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return skipString(text, at);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    let i = at;
    for (;;) {
      const c = text.charCodeAt(i);
      if (c === COMMA || c === CLOSE_BRACE || c === CLOSE_BRACKET || c <= 0x20 || c !== c) return i;
      i += 1;
    }
  }
  let depth = 0;
  for (let i = at; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) depth += 1;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  throw new SyntaxError('A value has no end');
}

/**
 * The members of the object whose text this is, raw.
 * @param text valid JSON text of one object
 * @param onRepeat told of each key that was there before
 */
export function rawMembers(text: string, onRepeat?: (key: string) => void): RawObject {
  const members: RawObject = new Map();
  let i = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(i) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, i);
    const key = JSON.parse(text.slice(i, keyEnd)) as string;
    i = skipSpace(text, keyEnd);
    if (text.charCodeAt(i) === COLON) i = skipSpace(text, i + 1);
    const valueEnd = skipValue(text, i);
    if (onRepeat && members.has(key)) onRepeat(key);
    members.set(key, text.slice(i, valueEnd));
    i = skipSpace(text, valueEnd);
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1);
  }
  return members;
}

/**
 * The elements of the array whose text this is, raw and in order.
 * @param text valid JSON text of one array
 */
export function rawElements(text: string): string[] {
  const elements: string[] = [];
  let i = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(i) !== CLOSE_BRACKET) {
    const end = skipValue(text, i);
    // So that no text keeps its reader for ever.
    if (end === i) throw new SyntaxError('This is no array');
    elements.push(text.slice(i, end));
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1);
  }
  return elements;
}

/** The text of an object with these raw members, in their order. */
export function fromRawMembers(members: RawObject): string {
  let text = '{';
  for (const [key, value] of members) {
    text += `${text.length > 1 ? ',' : ''}${JSON.stringify(key)}:${value}`;
  }
  return `${text}}`;
}

/**
 * The text of an object with these members too, in place of its own of their keys. Only where it may have such is it taken apart.
 * @param text valid JSON text of one object
 */
export function withMembers(text: string, more: Readonly<Record<string, string>>): string {
  const entries = Object.entries(more).map(([key, value]) => [key, JSON.stringify(value)] as const);
  if (text.includes('\\') || entries.some(([key]) => text.includes(`"${key}"`))) {
    return fromRawMembers(new Map([...rawMembers(text), ...entries]));
  }
  const before = text.slice(0, text.lastIndexOf('}')).trimEnd();
  const added = entries.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',');
  return `${before}${before.endsWith('{') || added === '' ? '' : ','}${added}}`;
}

export interface JsonBounds {
  /** Objects and arrays within each other. */
  readonly maxDepth: number;
  /** Members of objects and elements of arrays, in all. */
  readonly maxMembers: number;
}

/** Of what servers, models and authorization servers answer; of bodies there are settings. */
const ANSWER_BOUNDS: JsonBounds = { maxDepth: 256, maxMembers: 2_000_000 };

/** Of lists of servers, whose items are looked at one by one: one that is too deep is left out alone. */
export const LIST_BOUNDS: JsonBounds = { ...ANSWER_BOUNDS, maxDepth: Infinity };

/** A JSON text is past its bounds. The message says which, for the one who sent it. */
export class JsonPastBounds extends Error {
  readonly bound: 'depth' | 'members';

  constructor(bound: 'depth' | 'members', message: string) {
    super(message);
    this.bound = bound;
  }
}

/** @throws SyntaxError as `JSON.parse`, JsonPastBounds */
export function parseWithin(text: string, bounds: JsonBounds = ANSWER_BOUNDS): unknown {
  checkBounds(text, bounds);
  return JSON.parse(text);
}

/** @throws JsonPastBounds */
export function checkBounds(text: string, bounds: JsonBounds): void {
  const { maxDepth, maxMembers } = bounds;
  const past = findPast(text, bounds);
  if (past === 'depth') throw new JsonPastBounds(past, `is nested more than ${maxDepth} deep`);
  if (past === 'members') throw new JsonPastBounds(past, `has more than ${maxMembers} members`);
}

/** Whether arrays and objects are in each other deeper than so many levels; a scalar has none. */
export const isDeeper = (text: string, levels: number): boolean =>
  findPast(text, { maxDepth: levels, maxMembers: Infinity }) === 'depth';

/** The first bound that a text is past. */
function findPast(
  text: string,
  { maxDepth, maxMembers }: JsonBounds,
): JsonPastBounds['bound'] | undefined {
  // Whatever it is, a text so short holds no more.
  if (text.length <= 2 * maxDepth && text.length <= maxMembers) return undefined;
  let depth = 0;
  let members = 0;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === COMMA) members += 1;
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth += 1;
      members += 1;
      if (depth > maxDepth) return 'depth';
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth -= 1;
  }
  return members > maxMembers ? 'members' : undefined;
}

/*
 * Ids of JSON-RPC messages and tokens of progress past 2^53, of which two would become one: such a one is read again from the text, as a
 * bigint. Only integers in plain digits count, so that equal ids have equal texts. A fraction, an exponent and more digits than a name
 * may have characters stay numbers, which are no valid ids there.
 */

type Members = Record<string, unknown>;

const DIGITS = /^-?\d+$/;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && !Number.isSafeInteger(value);

/** What a raw value is as an id: the parsed one, but exact. */
function exact(parsed: unknown, raw: string | undefined): unknown {
  const isWhole = raw !== undefined && raw.length <= MAX_NAME_CHARS && DIGITS.test(raw);
  return isInexact(parsed) && isWhole ? BigInt(raw) : parsed;
}

/** An id of which only the text is known. @throws SyntaxError where it is no JSON */
export function parseId(raw: string): unknown {
  return exact(JSON.parse(raw), raw);
}

/**
 * A message, or an array of messages, with its ids exact. Changed in place: what was parsed is whose text this is.
 * @param text what it was parsed from
 */
export function withExactIds(parsed: unknown, text: string): unknown {
  if (!Array.isArray(parsed)) mend(parsed, () => rawMembers(text));
  else if (parsed.some(hasInexact)) {
    const texts = rawElements(text);
    for (const [at, message] of parsed.entries())
      mend(message, () => rawMembers(texts[at] ?? '{}'));
  }
  return parsed;
}

/** Whether a message names an id that was rounded; nothing is made for it, since every message comes by here. */
function hasInexact(message: unknown): message is Members {
  if (!isMembers(message)) return false;
  if (isInexact(message['id'])) return true;
  const { params } = message;
  if (!isMembers(params)) return false;
  const { requestId, progressToken, _meta: meta } = params;
  const isInMeta = isMembers(meta) && isInexact(meta['progressToken']);
  return isInMeta || isInexact(requestId) || isInexact(progressToken);
}

function mend(message: unknown, readRaw: () => RawObject): void {
  if (!hasInexact(message)) return;
  const raw = readRaw();
  const params = mendMembers(message, raw, ['id'], 'params');
  const meta = params && mendMembers(...params, ['requestId', 'progressToken'], '_meta');
  if (meta) mendMembers(...meta, ['progressToken']);
}

/** @returns the member under `inner` and its raw members, where it is an object */
function mendMembers(
  holder: Members,
  raw: RawObject,
  keys: readonly string[],
  inner = '',
): [Members, RawObject] | undefined {
  for (const key of keys) if (key in holder) holder[key] = exact(holder[key], raw.get(key));
  const next = holder[inner];
  return isMembers(next) ? [next, rawMembers(raw.get(inner) ?? '{}')] : undefined;
}
