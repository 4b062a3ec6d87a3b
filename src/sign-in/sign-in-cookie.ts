/** The cookie of a signed-in browser: 256 random bits, read by the gateway's pages and by API requests from them. Pure except for randomness. */
import { randomBytes, toBase64Url } from '../shared/crypto/base64url.ts';

/** Lifetime of a sign-in, in milliseconds. */
export const SIGN_IN_MS = 12 * 3_600_000;

const FORM = /^[A-Za-z0-9_-]{43}$/;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Creates the value of a cookie. */
export const createCookieValue = (): string => toBase64Url(randomBytes(32));

/** Whether a cookie is safe on this URL: over TLS, or on this machine. */
export const isCookieSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || LOOPBACK.has(hostname);

/** Browsers bind a cookie whose name begins with `__Host-` to this host and to TLS; without TLS they accept no such cookie. */
interface CookieNames {
  tls: string;
  plain: string;
}
const SIGN_IN: CookieNames = { tls: '__Host-portico', plain: 'portico-sign-in' };

const startOf = ({ tls, plain }: CookieNames, { protocol }: URL): string =>
  `${protocol === 'https:' ? tls : plain}=`;

/** Returns the values of the request's cookies with this name. */
export function readCookies(request: Request, url: URL, names: CookieNames): string[] {
  const start = startOf(names, url);
  const parts = (request.headers.get('cookie') ?? '').split(';').map(part => part.trim());
  return parts.filter(part => part.startsWith(start)).map(part => part.slice(start.length));
}

/** Returns the header that sets a cookie, or deletes it if there is no value. */
export function toCookieHeader(
  url: URL,
  names: CookieNames,
  value: string,
  lifeMs: number,
): string {
  const seconds = value === '' ? 0 : lifeMs / 1000;
  const secure = url.protocol === 'https:' ? '; Secure' : '';
  return `${startOf(names, url)}${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** Returns the value of the request's cookie; undefined if none has the right form. */
export const readCookie = (request: Request, url: URL): string | undefined =>
  isCookieSafe(url)
    ? readCookies(request, url, SIGN_IN).find(value => FORM.test(value))
    : undefined;

/** Returns the header that sets the cookie, or deletes it if there is no value. */
export const toSetCookie = (url: URL, value = ''): string =>
  toCookieHeader(url, SIGN_IN, value, SIGN_IN_MS);
