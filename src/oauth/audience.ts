/**
 * The audience of an access token (RFC 8707, RFC 9728): a URL of the gateway. It covers that URL and everything below it at path
 * boundaries. Pure.
 */
import { OAuthError } from './oauth-error.ts';

const MAX_CHARS = 2_000;

/** Paths of resources that clients connect to. Whether a server exists is not checked, since metadata is public. */
const RESOURCE = /^\/(?:mcp|sse)(?:\/(?:servers|toolsets)\/[^/]+)?$|^\/api\/v1$|^\/?$/;

/** Returns the path of a resource without a trailing slash; undefined if it is not the path of a resource. */
export function toResourcePath(path: string): string | undefined {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  return RESOURCE.test(trimmed) && trimmed.length <= MAX_CHARS ? trimmed : undefined;
}

/**
 * Returns the audience that a client asks for.
 * @param requested values of `resource`; none means the whole gateway, as clients before 2025-06-18 expect
 * @param origin of the gateway
 * @throws OAuthError `invalid_target`
 */
export function parseAudience(requested: readonly string[], origin: string): string {
  const [text, ...more] = requested;
  if (text === undefined) return origin;
  if (more.length > 0) throw new OAuthError('invalid_target', 'Ask for one resource at a time');
  const url = text.length <= MAX_CHARS && !text.includes('#') ? URL.parse(text) : null;
  const path = url?.origin === origin ? toResourcePath(url.pathname) : undefined;
  if (path === undefined || url?.username !== '' || url.password !== '') {
    throw new OAuthError('invalid_target', `The resource must be a URL of ${origin} to connect to`);
  }
  return origin + path;
}

/** Whether the first audience covers everything that the second one covers. */
export const coversAudience = (wide: string, narrow: string): boolean =>
  narrow === wide || narrow.startsWith(`${wide}/`);

/**
 * Checks the resource in a token request: a client may repeat the grant's audience or name one below it. The tokens get the grant's
 * audience.
 * @throws OAuthError `invalid_target`
 */
export function requireAudience(
  requested: readonly string[],
  { audience }: { audience: string },
  origin: string,
): void {
  if (requested.length === 0 || coversAudience(audience, parseAudience(requested, origin))) return;
  throw new OAuthError('invalid_target', `The grant is for ${audience}`);
}
