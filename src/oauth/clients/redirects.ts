/**
 * Where an answer may be sent: to exactly what a client registered. Of loopback the port makes no difference, since a program on a
 * person's machine takes the one that is free (RFC 8252 §7.3); host, path and query do. Texts are compared, not what a parser makes of
 * them. Pure.
 */

const MAX_CHARS = 2_000;
/** What every URI is made of (RFC 3986), but for a fragment. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[!$&'()*+,./0-9:;=?@A-Z[\]_a-z~%-]+$/;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?=[/?]|$)/i;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*/;
/** Schemes of programs that are known, beside those that are a domain of their makers from the end (RFC 8252 §7.1). */
const PROGRAMS = new Set([
  'claude',
  'cursor',
  'cursor-nightly',
  'goose',
  'jetbrains',
  'kiro',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'warp',
  'windsurf',
  'zed',
]);
const REVERSE_DOMAIN = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+$/;

/** Whether a client may register a URI: https, http of loopback, or the scheme of a program. */
export function isAllowedRedirect(uri: string): boolean {
  if (uri.length > MAX_CHARS || !URI.test(uri)) return false;
  const url = URL.parse(uri);
  if (!url || url.username !== '' || url.password !== '') return false;
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return /^https:\/\/[^/]/i.test(uri);
  if (scheme === 'http') return LOOPBACK.test(uri);
  return PROGRAMS.has(scheme) || REVERSE_DOMAIN.test(scheme);
}

/** Whether what a client asks for is among what it registered. @param registered each is allowed */
export function matchesRedirect(registered: readonly string[], asked: string): boolean {
  if (registered.includes(asked)) return true;
  const wanted = withoutPort(asked);
  return wanted !== undefined && registered.some(uri => withoutPort(uri) === wanted);
}

/** A loopback URI without its port; undefined of any other. */
function withoutPort(uri: string): string | undefined {
  const [origin, host = ''] = LOOPBACK.exec(uri) ?? [];
  if (origin === undefined || !isAllowedRedirect(uri)) return undefined;
  const rest = uri.slice(origin.length);
  return `${host.toLowerCase()}${rest.startsWith('/') ? '' : '/'}${rest}`;
}

/** Where a redirect goes, for people. */
export interface RedirectPlace {
  /** On the web, to the person's own machine, or to a program that the scheme names. */
  kind: 'web' | 'loopback' | 'app';
  /** Host and port; of a program its scheme. */
  host: string;
}

/** @param uri one that is allowed */
export function describeRedirect(uri: string): RedirectPlace {
  const [, loopback] = LOOPBACK.exec(uri) ?? [];
  if (loopback !== undefined) return { kind: 'loopback', host: loopback.toLowerCase() };
  const [scheme = ''] = SCHEME.exec(uri) ?? [];
  if (scheme.toLowerCase() === 'https') return { kind: 'web', host: new URL(uri).host };
  return { kind: 'app', host: `${scheme.toLowerCase()}:` };
}

/** Whether each of these goes to the person's own machine. @param uris each is allowed */
export const areLoopback = (uris: readonly string[]): boolean =>
  uris.every(uri => LOOPBACK.test(uri));
