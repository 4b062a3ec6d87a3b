/**
 * JSON that can be shown on any terminal: what moves the cursor, turns the direction of text or cannot be seen is written as `\uXXXX`.
 * For a program it says the same as before. Pure.
 */

/** All but line ends, which JSON has between its values only; `JSON.stringify` escapes no more than the first 32 by itself. */
const UNSEEN = /[^\n\P{C}]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Other space between values; in a string it is written with a backslash already. */
const SPACE = /[\r\t]/g;

/** @param json valid JSON text */
export function toSafeJson(json: string): string {
  return json.replaceAll(SPACE, ' ').replaceAll(UNSEEN, toEscapes);
}

const toEscapes = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => {
    const code = character.charCodeAt(at).toString(16).padStart(4, '0');
    return `\\u${code}`;
  }).join('');
