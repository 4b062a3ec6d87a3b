/**
 * What an access token is for (RFC 8707, RFC 9728): a URL of the gateway, with what is below it on the borders of path parts. Pure.
 */
import { OAuthError } from './oauth-error.ts';

const MAX_CHARS = 2_000;

/** Paths that are resources: what clients connect to. Which servers there are is no matter here, since metadata is for everybody. */
const RESOURCE = /^\/(?:mcp|sse)(?:\/(?:servers|toolsets)\/[^/]+)?$|^\/api\/v1$|^\/?$/;

/** The path of a resource without a slash at its end; undefined where the path is of none. */
export function toResourcePath(path: string): string | undefined {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  return RESOURCE.test(trimmed) && trimmed.length <= MAX_CHARS ? trimmed : undefined;
}

/**
 * The audience that a client asks for.
 * @param asked values of `resource`; none: the whole gateway, as clients before 2025-06-18 mean it
 * @param origin of the gateway
 * @throws OAuthError `invalid_target`
 */
export function parseAudience(asked: readonly string[], origin: string): string {
  const [text, ...more] = asked;
  if (text === undefined) return origin;
  if (more.length > 0) throw new OAuthError('invalid_target', 'Ask for one resource at a time');
  const url = text.length <= MAX_CHARS && !text.includes('#') ? URL.parse(text) : null;
  const path = url?.origin === origin ? toResourcePath(url.pathname) : undefined;
  if (path === undefined || url?.username !== '' || url.password !== '') {
    throw new OAuthError('invalid_target', `The resource must be a URL of ${origin} to connect to`);
  }
  return origin + path;
}

/** Whether all that a second audience covers is covered by the first. */
export const coversAudience = (wide: string, narrow: string): boolean =>
  narrow === wide || narrow.startsWith(`${wide}/`);

/**
 * A client may name the resource again where it asks for tokens, or one below it; they are for what was allowed.
 * @throws OAuthError `invalid_target`
 */
export function requireAudience(
  asked: readonly string[],
  { audience }: { audience: string },
  origin: string,
): void {
  if (asked.length === 0 || coversAudience(audience, parseAudience(asked, origin))) return;
  throw new OAuthError('invalid_target', `The grant is for ${audience}`);
}
