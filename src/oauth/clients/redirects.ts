/**
 * Redirect URIs: a response goes only to exactly what a client registered. For loopback the port is ignored, since a program on a person's
 * machine takes whatever port is free (RFC 8252 §7.3); host, path and query must match. Texts are compared, not parsed URLs. Pure.
 */

const MAX_CHARS = 2_000;
/** The characters of a URI (RFC 3986) without a fragment. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[!$&'()*+,./0-9:;=?@A-Z[\]_a-z~%-]+$/;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?=[/?]|$)/i;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*/;
/** Schemes of known programs, besides schemes that are a reversed domain of the maker (RFC 8252 §7.1). */
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

/** Whether a client may register a URI: https, http on loopback, or the scheme of a program. */
export function isAllowedRedirect(uri: string): boolean {
  if (uri.length > MAX_CHARS || !URI.test(uri)) return false;
  const url = URL.parse(uri);
  if (!url || url.username !== '' || url.password !== '') return false;
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return /^https:\/\/[^/]/i.test(uri);
  if (scheme === 'http') return LOOPBACK.test(uri);
  return PROGRAMS.has(scheme) || REVERSE_DOMAIN.test(scheme);
}

/** Whether a requested redirect matches one that the client registered. @param registered each is allowed */
export function matchesRedirect(registered: readonly string[], requested: string): boolean {
  if (registered.includes(requested)) return true;
  const wanted = withoutPort(requested);
  return wanted !== undefined && registered.some(uri => withoutPort(uri) === wanted);
}

/** Returns a loopback URI without its port; undefined for any other URI. */
function withoutPort(uri: string): string | undefined {
  const [origin, host = ''] = LOOPBACK.exec(uri) ?? [];
  if (origin === undefined || !isAllowedRedirect(uri)) return undefined;
  const rest = uri.slice(origin.length);
  return `${host.toLowerCase()}${rest.startsWith('/') ? '' : '/'}${rest}`;
}

/** Where a redirect leads, for people to read. */
export interface RedirectPlace {
  /** The web, the person's own machine, or the program that the scheme names. */
  kind: 'web' | 'loopback' | 'app';
  /** Host and port; for a program, its scheme. */
  host: string;
}

/** @param uri an allowed redirect */
export function describeRedirect(uri: string): RedirectPlace {
  const [, loopback] = LOOPBACK.exec(uri) ?? [];
  if (loopback !== undefined) return { kind: 'loopback', host: loopback.toLowerCase() };
  const [scheme = ''] = SCHEME.exec(uri) ?? [];
  if (scheme.toLowerCase() === 'https') return { kind: 'web', host: new URL(uri).host };
  return { kind: 'app', host: `${scheme.toLowerCase()}:` };
}

/** Whether all redirects lead to the person's own machine. @param uris each is allowed */
export const areLoopback = (uris: readonly string[]): boolean =>
  uris.every(uri => LOOPBACK.test(uri));
