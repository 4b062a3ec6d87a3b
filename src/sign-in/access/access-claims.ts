/**
 * Claims of Cloudflare Access about a person it let through (`Cf-Access-Jwt-Assertion`): a token of one team for one application. Source:
 * developers.cloudflare.com, Cloudflare One, validate JWTs. Pure.
 */
import { z } from 'zod';
import type { JsonObject } from '../../shared/protocol.ts';
import type { Proven } from '../identities/claims.ts';
import type { Provider } from '../providers/providers-schema.ts';

const SKEW_S = 60;
const time = z.number().finite();
/** A service token has no subject, so it identifies no person and is refused. */
const ClaimsSchema = z.looseObject({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string()).max(50)]),
  sub: z.string().min(1),
  exp: time,
  nbf: time.optional(),
  iat: time.optional(),
  type: z.literal('app'),
});

/**
 * Returns the person, or undefined if the claims are not of this provider's team and application, or not valid now.
 * @param now milliseconds since the epoch
 */
export function readAccessClaims(
  claims: JsonObject,
  { issuer, client_id: application }: Pick<Provider, 'issuer' | 'client_id'>,
  now: number,
): Proven | undefined {
  const parsed = ClaimsSchema.safeParse(claims);
  if (!parsed.success) return undefined;
  const { iss, aud, sub, exp, nbf, iat } = parsed.data;
  const seconds = now / 1000;
  const isOurs = iss === issuer && [aud].flat().includes(application);
  const isOfNow =
    exp > seconds - SKEW_S && [nbf, iat].every(at => at === undefined || at <= seconds + SKEW_S);
  return isOurs && isOfNow ? { issuer, subject: sub, claims } : undefined;
}
