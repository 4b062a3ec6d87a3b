/**
 * Signed assertions of clients (RFC 7523): a JWT by a client about itself, for this gateway, valid now, signed with one of the client's
 * keys. Algorithms are an allow-list; of the header's key parameters only `kid` is read. Pure except for the signature.
 */
import { z } from 'zod';
import { parseJwt, type Jwt } from '../../shared/crypto/jwt.ts';
import { usableUntil, whyNotNow } from '../assertion-times.ts';
import { OAuthError } from '../oauth-error.ts';

const MAX_CHARS = 8_192;

const time = z.number().finite();
const ClaimsSchema = z.looseObject({
  iss: z.string(),
  sub: z.string(),
  aud: z.union([z.string(), z.array(z.string()).min(1).max(5)]),
  exp: time,
  nbf: time.optional(),
  iat: time.optional(),
  jti: z.string().min(1).max(1_000).optional(),
});

export type ClientAssertion = Omit<Jwt, 'claims'> & { claims: z.infer<typeof ClaimsSchema> };

/** @throws OAuthError `invalid_client` */
export function parseAssertion(text: string): ClientAssertion {
  const jwt = parseJwt(text, MAX_CHARS);
  const claims = ClaimsSchema.safeParse(jwt?.claims);
  if (!jwt || !claims.success) throw refused('is not in a form that this gateway accepts');
  return { ...jwt, claims: claims.data };
}

/**
 * Checks the claims of an assertion.
 * @param clientId the `client_id` sent beside the assertion
 * @param now milliseconds since the epoch
 * @returns until when it could be replayed, in milliseconds since the epoch
 * @throws OAuthError `invalid_client`
 */
export function checkClaims(
  { claims }: ClientAssertion,
  clientId: string | undefined,
  issuer: string,
  now: number,
): number {
  const { iss, sub, aud } = claims;
  if (iss !== sub || (clientId !== undefined && clientId !== sub)) {
    throw refused('is of another client');
  }
  const ours = [issuer, `${issuer.replace(/\/$/, '')}/token`];
  if (![aud].flat().every(one => ours.includes(one))) throw refused('is for another audience');
  const problem = whyNotNow(claims, now);
  if (problem !== undefined) throw refused(problem);
  return usableUntil(claims);
}

/** Returns a key that is unique among a client's assertions. */
export const onceKeyOf = ({ claims, signed }: ClientAssertion): string =>
  JSON.stringify(claims.jti === undefined ? [claims.sub, null, signed] : [claims.sub, claims.jti]);

export const refused = (what: string) =>
  new OAuthError('invalid_client', `The client_assertion ${what}`);
