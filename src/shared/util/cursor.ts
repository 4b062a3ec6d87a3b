/**
 * Cursors of lists: where a page ended, opaque to clients and bound to one list and filter. A cursor grants no right and hides nothing. A
 * cursor that is not ours, or belongs to another filter, is not a position. Pure but for the hash function.
 */
import { fromBase64Url, sha256Hex, toBase64Url } from '../crypto/base64url.ts';
import { tryJson } from '../json/json-spans.ts';

/** The values by which the last item of a page is found again. */
export type Position = readonly (string | number)[];

/** Longest cursor, in characters. */
export const MAX_CURSOR_CHARS = 1024;

const digestOf = async (list: unknown): Promise<string> =>
  (await sha256Hex(JSON.stringify(list))).slice(0, 16);

/** @param list what the cursor is bound to: the list's name and filter, as JSON */
export async function toCursor(list: unknown, position: Position): Promise<string> {
  const text = JSON.stringify([await digestOf(list), ...position]);
  return toBase64Url(new TextEncoder().encode(text));
}

/** Returns the position of a cursor, or undefined if it is no cursor of this list. */
export async function parseCursor(list: unknown, cursor: string): Promise<Position | undefined> {
  const bytes = cursor.length > MAX_CURSOR_CHARS ? undefined : fromBase64Url(cursor);
  if (!bytes) return undefined;
  const parsed = tryJson(new TextDecoder().decode(bytes));
  if (!Array.isArray(parsed)) return undefined;
  const [digest, ...position] = parsed as unknown[];
  const isPosition = (part: unknown) => typeof part === 'string' || typeof part === 'number';
  if (digest !== (await digestOf(list)) || !position.every(isPosition)) return undefined;
  return position as Position;
}
