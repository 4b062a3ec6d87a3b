/**
 * Pages of a list. The cursor is the name of the page's last item, so paging stays right even if the list changes in between: nothing is
 * repeated, and nothing that stayed is left out. Only if that item is gone, the rest of its server is left out: a server lists its items
 * in an order of its own, so nothing says which of them were read. Pure.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { fromBase64Url, toBase64Url } from '../shared/crypto/base64url.ts';
import { tryJson } from '../shared/json/json-spans.ts';

export interface Page<T> {
  items: readonly T[];
  nextCursor?: string;
}

interface Named {
  name: string;
  server: { name: string };
}

/** A cursor holds a name or a URI; each character takes at most four characters of the cursor. */
const MAX_CURSOR_CHARS = 32_768;

/**
 * @param list sorted by server name without regard to case; within a server in the catalog's order
 * @param cursor from an earlier page
 * @param fits called for each item in turn; a page ends before one that does not fit, but has at least one
 * @throws PorticoError `invalid_params` if the gateway did not make the cursor
 */
export function pageOf<T extends Named>(
  list: readonly T[],
  cursor: string | undefined,
  pageSize: number,
  fits: (item: T) => boolean = () => true,
): Page<T> {
  const from = cursor === undefined ? 0 : positionAfter(list, parseCursor(cursor));
  const rest = list.slice(from, from + pageSize);
  const tooMuch = rest.findIndex((item, i) => !fits(item) && i > 0);
  const items = tooMuch === -1 ? rest : rest.slice(0, tooMuch);
  const last = items.at(-1);
  if (!last || from + items.length >= list.length) return { items };
  return { items, nextCursor: toCursor(last) };
}

function toCursor({ name, server }: Named): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([server.name, name])));
}

function parseCursor(cursor: string): [server: string, name: string] {
  const bytes = cursor.length > MAX_CURSOR_CHARS ? undefined : fromBase64Url(cursor);
  const parsed = tryJson(new TextDecoder().decode(bytes));
  if (Array.isArray(parsed) && typeof parsed[0] === 'string' && typeof parsed[1] === 'string') {
    return [parsed[0], parsed[1]];
  }
  throw new PorticoError('invalid_params', 'The cursor is not valid; start again without one');
}

/** Returns where the list goes on; if the item itself is gone, after the items of its server. */
function positionAfter(list: readonly Named[], [server, name]: [string, string]): number {
  const exact = list.findIndex(item => item.name === name && item.server.name === server);
  if (exact !== -1) return exact + 1;
  const gone = server.toLowerCase();
  const later = list.findIndex(item => item.server.name.toLowerCase() > gone);
  return later === -1 ? list.length : later;
}
