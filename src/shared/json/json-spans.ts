/**
 * Reads JSON by its text, for three purposes. Finding the members of an object, so that a message can be changed in one
 * place and forwarded with every other byte unchanged: numbers keep their digits, keys their order, unknown fields
 * their form. Counting depth and members before a text is parsed, so that code that walks a value never meets one that
 * it cannot walk. Keeping ids exact that no JavaScript number holds and `JSON.parse` rounds. Pure, linear.
 *
 * Invariant: `JSON.parse` has accepted the text, except where a function says otherwise; nothing here validates. The
 * bounds are safe on text that is not JSON.
 */
import { MAX_NAME_CHARS } from '../util/name-limits.ts';

/** The members of an object as raw JSON text by key; of equal keys the last one wins. */
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

/** Index of the quote that ends the string which starts at `at`; the length of the text if the string has no end. */
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

/** Index after the value that starts at `at`. @throws SyntaxError if the value has no end */
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
 * Returns the raw members of an object.
 * @param text valid JSON text of one object
 * @param onRepeat called with each key that occurred before
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
 * Returns the raw elements of an array, in order.
 * @param text valid JSON text of one array
 */
export function rawElements(text: string): string[] {
  const elements: string[] = [];
  let i = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(i) !== CLOSE_BRACKET) {
    const end = skipValue(text, i);
    // Prevents an endless loop.
    if (end === i) throw new SyntaxError('This is not an array');
    elements.push(text.slice(i, end));
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1);
  }
  return elements;
}

/** Returns the text of an object with these raw members, in their order. */
export function fromRawMembers(members: RawObject): string {
  let text = '{';
  for (const [key, value] of members) {
    text += `${text.length > 1 ? ',' : ''}${JSON.stringify(key)}:${value}`;
  }
  return `${text}}`;
}

/**
 * Returns the text of an object with these members added; they replace its own members of the same keys. The text is
 * parsed only if it may contain such a key.
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

/** Returns undefined where the text is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface JsonBounds {
  /** Nesting depth of objects and arrays. */
  readonly maxDepth: number;
  /** Members of objects and elements of arrays, in total. */
  readonly maxMembers: number;
}

/** For responses of servers, models and authorization servers; the bounds of request bodies are settings. */
const ANSWER_BOUNDS: JsonBounds = { maxDepth: 256, maxMembers: 2_000_000 };

/** For lists of servers, whose items are checked one by one: an item that is too deep is left out alone. */
export const LIST_BOUNDS: JsonBounds = { ...ANSWER_BOUNDS, maxDepth: Infinity };

/** A JSON text exceeds its bounds. The message names the bound, for the sender. */
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

/** Whether arrays and objects are nested deeper than this many levels; a scalar has none. */
export const isDeeper = (text: string, levels: number): boolean =>
  findPast(text, { maxDepth: levels, maxMembers: Infinity }) === 'depth';

/** Returns the first bound that a text exceeds. */
function findPast(
  text: string,
  { maxDepth, maxMembers }: JsonBounds,
): JsonPastBounds['bound'] | undefined {
  // So short a text cannot exceed the bounds, whatever it contains.
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
 * Ids of JSON-RPC messages and progress tokens past 2^53, where two different numbers would round to one: they are read
 * again from the text, as bigints. Only integers in plain digits count, so that equal ids have equal texts. Fractions,
 * exponents and numbers with more digits than a name may have characters stay numbers, which are not valid ids.
 */

type Members = Record<string, unknown>;

const DIGITS = /^-?\d+$/;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && !Number.isSafeInteger(value);

/** Returns the exact value of an id; other values stay as parsed. */
function exact(parsed: unknown, raw: string | undefined): unknown {
  const isWhole = raw !== undefined && raw.length <= MAX_NAME_CHARS && DIGITS.test(raw);
  return isInexact(parsed) && isWhole ? BigInt(raw) : parsed;
}

/** Parses an id from its text. @throws SyntaxError if it is not JSON */
export function parseId(raw: string): unknown {
  return exact(JSON.parse(raw), raw);
}

/**
 * Makes the ids of a message, or of an array of messages, exact. Changes `parsed` in place.
 * @param text the text that `parsed` was parsed from
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

/** Whether a message contains an id that was rounded. Allocates nothing, since every message passes here. */
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

/** @returns the member under `inner` and its raw members, if it is an object */
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
