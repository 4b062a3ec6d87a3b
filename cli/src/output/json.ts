/**
 * JSON that is safe on any terminal: characters that move the cursor, change text direction or are invisible become `\uXXXX`. A program
 * reads the same value. Pure.
 */

/** All but line ends, which occur only between JSON values; `JSON.stringify` itself escapes only the first 32 characters. */
const UNSEEN = /[^\n\P{C}]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Other white space between values; within a string it is already escaped. */
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
