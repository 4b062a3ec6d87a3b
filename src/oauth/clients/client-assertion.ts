/**
 * Signed assertions of clients (RFC 7523): a JWT of a client about itself, for us, of now, signed by a key of its own. Algorithms are a
 * list; what a header says of keys beside `kid` is not looked at. Pure but for the signature.
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
  if (!jwt || !claims.success) throw refused('is none that is known here');
  return { ...jwt, claims: claims.data };
}

/**
 * Check what an assertion says.
 * @param clientId as it is named beside it
 * @param now milliseconds since the epoch
 * @returns until when it could be used again, in milliseconds since the epoch
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
  if (![aud].flat().every(one => ours.includes(one))) throw refused('is for somebody else');
  const problem = whyNotNow(claims, now);
  if (problem !== undefined) throw refused(problem);
  return usableUntil(claims);
}

/** What no two assertions of a client have in common. */
export const onceKeyOf = ({ claims, signed }: ClientAssertion): string =>
  JSON.stringify(claims.jti === undefined ? [claims.sub, null, signed] : [claims.sub, claims.jti]);

export const refused = (what: string) =>
  new OAuthError('invalid_client', `The client_assertion ${what}`);
