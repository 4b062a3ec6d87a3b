/**
 * Parses JSON of others within bounds: how deep it is nested and how many members and elements it has in all. Both are counted on the
 * text before anything is made of it, so that nothing that walks a value meets one that it could not walk. Pure, linear, and safe on
 * text that is no JSON.
 */

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
const BACKSLASH = 0x5c;
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
export function checkBounds(text: string, { maxDepth, maxMembers }: JsonBounds): void {
  // Whatever it is, a text so short holds no more.
  if (text.length <= 2 * maxDepth && text.length <= maxMembers) return;
  let depth = 0;
  let members = 0;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === COMMA) members += 1;
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth += 1;
      members += 1;
      if (depth > maxDepth)
        throw new JsonPastBounds('depth', `is nested more than ${maxDepth} deep`);
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth -= 1;
  }
  if (members > maxMembers)
    throw new JsonPastBounds('members', `has more than ${maxMembers} members`);
}

/** Index of the quote that ends the string which begins at `at`; the end of the text where none does. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
