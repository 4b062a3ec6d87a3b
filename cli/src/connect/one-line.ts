/** Makes outside text safe for a terminal: one line without control or invisible characters, and of limited length. Pure. */

const UNSEEN = /[\p{C}\p{Z}]+/gu;

/** @param maxChars longest result; a cut text ends with "…" */
export function toLine(text: string, maxChars: number): string {
  const line = text.replaceAll(UNSEEN, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= maxChars ? line : `${characters.slice(0, maxChars - 1).join('')}…`;
}
