/**
 * Cursors of lists: where a page ended, opaque to clients and bound to the list and filter it belongs to. A cursor gives no
 * right and hides nothing; one that is not ours, or is of another filter, is no position. Pure but for the hash function.
 */
import { fromBase64Url, sha256Hex, toBase64Url } from '../crypto/base64url.ts';

/** What the last item of a page is found again by. */
export type Position = readonly (string | number)[];

/** Longest cursor, in characters. */
export const MAX_CURSOR_CHARS = 1024;

const digestOf = async (list: unknown): Promise<string> =>
  (await sha256Hex(JSON.stringify(list))).slice(0, 16);

/** @param list what the cursor is bound to: the list's name and its filter, as JSON */
export async function toCursor(list: unknown, position: Position): Promise<string> {
  const text = JSON.stringify([await digestOf(list), ...position]);
  return toBase64Url(new TextEncoder().encode(text));
}

/** The position a cursor stands for, or undefined where it is none of this list. */
export async function parseCursor(list: unknown, cursor: string): Promise<Position | undefined> {
  const bytes = cursor.length > MAX_CURSOR_CHARS ? undefined : fromBase64Url(cursor);
  if (!bytes) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const [digest, ...position] = parsed as unknown[];
  const isPosition = (part: unknown) => typeof part === 'string' || typeof part === 'number';
  if (digest !== (await digestOf(list)) || !position.every(isPosition)) return undefined;
  return position as Position;
}
