/** The cookie of a browser in which somebody is signed in: 256 random bits that only the gateway's pages read. Pure but for the dice. */
import { randomBytes, toBase64Url } from '../shared/crypto/base64url.ts';

/** How long somebody stays signed in, in milliseconds. */
export const SIGN_IN_MS = 12 * 3_600_000;

const FORM = /^[A-Za-z0-9_-]{43}$/;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A new cookie's value. */
export const createCookieValue = (): string => toBase64Url(randomBytes(32));

/** Whether a cookie is safe there: over TLS, or on this machine. */
export const isCookieSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || LOOPBACK.has(hostname);

/** A browser keeps what begins with `__Host-` to this host and to TLS; without TLS it would take none of that name. */
interface CookieNames {
  tls: string;
  plain: string;
}
const SIGN_IN: CookieNames = { tls: '__Host-portico', plain: 'portico-sign-in' };

const startOf = ({ tls, plain }: CookieNames, { protocol }: URL): string =>
  `${protocol === 'https:' ? tls : plain}=`;

/** The values of the cookies of a request that have this name. */
export function readCookies(request: Request, url: URL, names: CookieNames): string[] {
  const start = startOf(names, url);
  const parts = (request.headers.get('cookie') ?? '').split(';').map(part => part.trim());
  return parts.filter(part => part.startsWith(start)).map(part => part.slice(start.length));
}

/** The header that sets a cookie, or takes it back where there is no value. */
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

/** The value of the cookie of a request; undefined where there is none of its form. */
export const readCookie = (request: Request, url: URL): string | undefined =>
  isCookieSafe(url)
    ? readCookies(request, url, SIGN_IN).find(value => FORM.test(value))
    : undefined;

/** The header that sets the cookie, or takes it back where there is no value. */
export const toSetCookie = (url: URL, value = ''): string =>
  toCookieHeader(url, SIGN_IN, value, SIGN_IN_MS);
