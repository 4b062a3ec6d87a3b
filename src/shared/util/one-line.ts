/**
 * Others' text on one short line, for a model or a table: white space becomes single spaces, characters that are
 * invisible or move their neighbours are removed, and a text that is too long ends in `…`. Pure.
 */
import { shortened } from './shortened.ts';

const SPACE = /[\t-\r\u0085\p{Z}\u2800]+/gu;
const HIDDEN = /[\p{C}\p{Default_Ignorable_Code_Point}]/gu;
/** Characters of the text that are read for each character of the line. */
const READ_FACTOR = 4;

/** @param maxChars in UTF-16 units, the `…` included */
export function toOneLine(text: string, maxChars: number): string {
  const begin = text.slice(0, maxChars * READ_FACTOR);
  const line = begin.replaceAll(SPACE, ' ').replaceAll(HIDDEN, '').replaceAll(/ +/g, ' ').trim();
  return shortened(begin.length < text.length ? `${line}…` : line, maxChars);
}
