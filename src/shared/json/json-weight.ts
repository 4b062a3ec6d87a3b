/**
 * Estimates the memory that a JSON text takes once it is parsed; never far too low. Many small values take many times
 * their text, one long string takes about its length. Pure, linear, and safe on text that is not JSON.
 */

import { endOfString } from './json-spans.ts';

/** Bytes of one object or array; bytes of one member, element or string in addition to its characters. */
const CONTAINER_BYTES = 32;
const VALUE_BYTES = 16;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** Estimated bytes of the value that a text parses to. */
export function parsedWeight(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (c === COMMA) bytes += VALUE_BYTES;
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) bytes += CONTAINER_BYTES;
    else if (c === QUOTE) {
      bytes += VALUE_BYTES;
      i = endOfString(text, i);
    }
  }
  return bytes;
}
