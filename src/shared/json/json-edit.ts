/**
 * Writes a part of JSON text anew and leaves every byte around it as it came. Pure, linear.
 *
 * Invariant: the text has been accepted by `JSON.parse` before; nothing here validates.
 */
import { skipSpace, skipString, skipValue } from './json-spans.ts';

type Edit = (raw: string) => string;

/**
 * The text of an object with the value under a key edited, each of several equal keys alike.
 * @param text JSON text of a value; what is no object stays
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
 * The text of an array with each element edited.
 * @param text JSON text of a value; what is no array stays
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
