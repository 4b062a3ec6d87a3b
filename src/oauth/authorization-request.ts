/**
 * A client's request at `/authorize` (OAuth 2.1 §4.1.1, RFC 7636, RFC 8707). The order of the checks matters: nothing is sent anywhere
 * until client and redirect are known to belong together; after that every problem goes back to the client. Pure.
 */
import { z } from 'zod';
import { ScopeSchema, MEMBER_SCOPES, type Scope } from '../shared/identity/principal.ts';
import { parseAudience } from './audience.ts';
import type { OAuthClient } from './clients/client.ts';
import { OAuthError } from './oauth-error.ts';

/** A checked request that waits for a person's decision. */
export const AuthorizationRequestSchema = z.object({
  clientId: z.string(),
  redirectUri: z.string(),
  state: z.string().nullable(),
  challenge: z.string(),
  audience: z.string(),
  scopes: z.array(ScopeSchema),
});
export type AuthorizationRequest = z.infer<typeof AuthorizationRequestSchema>;

/** Where the response to the client goes, and the client's state for it. */
export type ReturnTo = Pick<AuthorizationRequest, 'redirectUri' | 'state'>;

const MAX_STATE_CHARS = 2_000;
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const ONCE = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
];

/**
 * Returns where to send the response.
 * @param matches whether the requested redirect matches one that the client registered
 * @throws OAuthError that is shown to the person and to nobody else
 */
export function findReturn(
  query: URLSearchParams,
  client: OAuthClient,
  matches: (registered: readonly string[], asked: string) => boolean,
): ReturnTo {
  const [requested, ...more] = query.getAll('redirect_uri');
  const [only, ...others] = client.redirectUris;
  const redirectUri = requested ?? (others.length === 0 ? only : undefined);
  if (redirectUri === undefined || more.length > 0 || !matches(client.redirectUris, redirectUri)) {
    throw new OAuthError('invalid_request', 'The redirect_uri is not registered for this client');
  }
  const state = query.getAll('state').length === 1 ? query.get('state') : null;
  if (state !== null && state.length > MAX_STATE_CHARS) {
    throw new OAuthError('invalid_request', `state: at most ${MAX_STATE_CHARS} characters`);
  }
  return { redirectUri, state };
}

/**
 * Parses the rest of the request, whose redirect was checked before.
 * @param origin of the gateway
 * @throws OAuthError that is sent to the client
 */
export function parseAuthorization(
  query: URLSearchParams,
  client: OAuthClient,
  returnTo: ReturnTo,
  origin: string,
): AuthorizationRequest {
  const twice = ONCE.find(name => query.getAll(name).length > 1);
  if (twice !== undefined) throw new OAuthError('invalid_request', `${twice} is given twice`);
  if (query.get('response_type') !== 'code') {
    throw new OAuthError('unsupported_response_type', 'response_type must be code');
  }
  if (!['query', null].includes(query.get('response_mode'))) {
    throw new OAuthError('invalid_request', 'response_mode must be query');
  }
  if (query.has('request') || query.has('request_uri')) {
    throw new OAuthError('invalid_request', 'Request objects are not supported');
  }
  const challenge = query.get('code_challenge') ?? '';
  if (query.get('code_challenge_method') !== 'S256' || !CHALLENGE.test(challenge)) {
    throw new OAuthError(
      'invalid_request',
      'PKCE is required: send a code_challenge with the method S256',
    );
  }
  const audience = parseAudience(query.getAll('resource'), origin);
  const scopes = parseScopes(query.get('scope'));
  return { ...returnTo, clientId: client.id, challenge, audience, scopes };
}

/**
 * Returns the scopes a client asks for. Unknown scopes are left out, since clients also send `openid` and `offline_access`.
 * @throws OAuthError `invalid_scope` if all of them are unknown, other than these two
 */
export function parseScopes(text: string | null): Scope[] {
  const requested = (text ?? '').split(' ').filter(scope => scope !== '');
  const known = ScopeSchema.options.filter(scope => requested.includes(scope));
  if (known.length > 0) return known;
  const isOfOthers = requested.every(scope => scope === 'openid' || scope === 'offline_access');
  if (isOfOthers) return [...MEMBER_SCOPES];
  throw new OAuthError('invalid_scope', `Scopes are ${ScopeSchema.options.join(' ')}`);
}

/** Returns the URL that carries a response to the client (RFC 6749 §4.1.2, RFC 9207). */
export function toReturnUrl(
  { redirectUri, state }: ReturnTo,
  issuer: string,
  answer: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({
    ...answer,
    iss: issuer,
    ...(state === null ? {} : { state }),
  });
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}
