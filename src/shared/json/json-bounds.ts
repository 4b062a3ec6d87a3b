/**
 * Parses JSON of others within bounds: how deep it is nested and how many members and elements it has in all. Both are counted on the
 * text before anything is made of it, so that nothing that walks a value meets one that it could not walk. Pure, linear, and safe on
 * text that is no JSON.
 */

import { endOfString } from './json-spans.ts';

export interface JsonBounds {
  /** Objects and arrays within each other. */
  readonly maxDepth: number;
  /** Members of objects and elements of arrays, in all. */
  readonly maxMembers: number;
}

/** Of what servers, models and authorization servers answer; of bodies there are settings. */
export const ANSWER_BOUNDS: JsonBounds = { maxDepth: 256, maxMembers: 2_000_000 };

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

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

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
