/**
 * Reads a token endpoint's response: tokens, a refusal, or an unusable response, which counts as transient. It is not read by a library,
 * since some servers send a refusal with status 200, and a refusal must never be mistaken for a transient failure, nor the reverse. Pure.
 */
import { z } from 'zod';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { toScope } from './challenge.ts';
import { GrantRefused, type IssuedTokens } from './code-flow-schema.ts';

const MAX_TOKEN_CHARS = 16_384;
const LIFETIME_S = { min: 10, max: 365 * 86_400 };
/** Lifetime of a token without `expires_in`, in seconds: one that can be renewed is renewed hourly, another is used until it is refused. */
const DEFAULT_LIFETIME_S = { renewable: 3_600, other: LIFETIME_S.max };

/** Error codes that may be repeated (RFC 6749 §4.1.2.1 and §5.2, RFC 7591 §3.2.2, RFC 8707 §2). */
const KNOWN_CODES = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'invalid_scope',
  'invalid_target',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'access_denied',
  'invalid_redirect_uri',
  'invalid_client_metadata',
]);
/** GitHub's own error codes. Source: docs.github.com, troubleshooting OAuth app access token request errors. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  incorrect_client_credentials: 'invalid_client',
  bad_verification_code: 'invalid_grant',
  bad_refresh_token: 'invalid_grant',
};
const PASSING_CODES = new Set(['server_error', 'temporarily_unavailable', 'slow_down']);
const PASSING_STATUSES = new Set([408, 425, 429]);

const printable = z
  .string()
  .max(MAX_TOKEN_CHARS)
  .regex(/^[\x21-\x7e]+$/);
const AnswerSchema = z.object({
  access_token: printable,
  token_type: z.string().regex(/^bearer$/i),
  refresh_token: printable.nullish(),
  scope: z.string().nullish(),
  expires_in: z.coerce.number().nonnegative().nullish(),
});

/** Maps an error code to the specification's codes; `other` if there is none, so that no text of a response is repeated. */
export function toReason(code: string): string {
  const known = OTHER_WORDS[code] ?? code;
  return KNOWN_CODES.has(known) ? known : 'other';
}

/**
 * Returns the refusal in a response, if it is one.
 * @param body JSON, or undefined
 * @param refusesSilently whether any 4xx status is a refusal, whatever its body
 */
export function toRefusal(
  status: number,
  body: unknown,
  refusesSilently = false,
): GrantRefused | undefined {
  if (status >= 500 || PASSING_STATUSES.has(status)) return undefined;
  const { data } = z.object({ error: z.string() }).safeParse(body);
  if (data && !PASSING_CODES.has(data.error)) return refusal(toReason(data.error));
  if (data || status < 400) return undefined;
  if (refusesSilently) return refusal('other');
  // The status also reports an unknown client (RFC 6749 §5.2).
  return status === 401 ? refusal('invalid_client') : undefined;
}

export const refusal = (reason: string): GrantRefused =>
  new GrantRefused(
    reason,
    reason === 'other'
      ? 'The authorization server refused'
      : `The authorization server refused: ${reason}`,
  );

/**
 * @param isRenewable whether there is a refresh token already
 * @throws GrantRefused, PorticoError `credential_unavailable`
 */
export function readTokens(status: number, body: unknown, isRenewable: boolean): IssuedTokens {
  const refused = toRefusal(status, body);
  if (refused) throw refused;
  const { data } = AnswerSchema.safeParse(body);
  if (status < 200 || status > 299 || !data) throw unusable();
  const { access_token: accessToken, refresh_token: refreshToken, scope } = data;
  const seconds =
    data.expires_in ??
    (isRenewable || refreshToken ? DEFAULT_LIFETIME_S.renewable : DEFAULT_LIFETIME_S.other);
  const bounded = Math.min(Math.max(Math.floor(seconds), LIFETIME_S.min), LIFETIME_S.max);
  return {
    accessToken,
    refreshToken: refreshToken ?? undefined,
    scope: toScope(scope ?? undefined),
    lifetimeMs: bounded * 1_000,
  };
}

export const unusable = (): PorticoError =>
  new PorticoError('credential_unavailable', 'The answer of the authorization server is not valid');
