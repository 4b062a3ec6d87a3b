/** Where the browser continues after sign-in: a page of our own that asked for it, never anywhere else. Pure. */

const MAX_CHARS = 8_000;
const PAGES = new Set(['/authorize', '/console', '/device', '/sign-in/passkeys']);
const FOLDERS = ['/connect/', '/console/'];

/** Returns the path of a page of ours, or undefined if the text is not one. @param url of the request */
export function toReturnPath(text: string | null, { origin }: URL): string | undefined {
  if (text === null || text.length > MAX_CHARS || !text.startsWith('/')) return undefined;
  const url = URL.parse(text, origin);
  if (url?.origin !== origin) return undefined;
  const { pathname, search } = url;
  const isOurs = PAGES.has(pathname) || FOLDERS.some(folder => pathname.startsWith(folder));
  return isOurs ? `${pathname}${search}` : undefined;
}
