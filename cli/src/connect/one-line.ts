/** Text of others for a terminal: one line, nothing that moves the cursor or cannot be seen, not too long. Pure. */

const UNSEEN = /[\p{C}\p{Z}]+/gu;

/** @param maxChars longest text; what is cut ends with "…" */
export function toLine(text: string, maxChars: number): string {
  const line = text.replaceAll(UNSEEN, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= maxChars ? line : `${characters.slice(0, maxChars - 1).join('')}…`;
}
