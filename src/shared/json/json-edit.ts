/**
 * Rewrites a part of a JSON text and leaves every other byte unchanged. Pure, linear.
 *
 * Invariant: `JSON.parse` has accepted the text; nothing here validates.
 */
import { skipSpace, skipString, skipValue } from './json-spans.ts';

type Edit = (raw: string) => string;

/**
 * Returns the text of an object with the value under a key edited; if the key occurs several times, each value is edited.
 * @param text JSON text of a value; returned unchanged if it is no object
 */
export function editMember(text: string, key: string, edit: Edit): string {
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return text;
  at = skipSpace(text, at + 1);
  let made = '';
  let copied = 0;
  while (text[at] !== '}') {
    const keyEnd = skipString(text, at);
    const isIt = JSON.parse(text.slice(at, keyEnd)) === key;
    at = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, at);
    if (isIt) {
      made += text.slice(copied, at) + edit(text.slice(at, end));
      copied = end;
    }
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return made + text.slice(copied);
}

/**
 * Returns the text of an array with each element edited.
 * @param text JSON text of a value; returned unchanged if it is no array
 */
export function editElements(text: string, edit: Edit): string {
  let at = skipSpace(text, 0);
  if (text[at] !== '[') return text;
  at = skipSpace(text, at + 1);
  let made = text.slice(0, at);
  while (text[at] !== ']') {
    const end = skipValue(text, at);
    made += edit(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
    made += text.slice(end, at);
  }
  return made + text.slice(at);
}
