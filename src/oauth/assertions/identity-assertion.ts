/**
 * ID-JAG: an identity provider's assertion about a person for one client (draft-ietf-oauth-identity-assertion-authz-grant §3). It is a JWT
 * for this gateway alone and for the client that presents it, valid now. Restrictions that are not supported here are refused, never
 * ignored. Pure.
 */
import { z } from 'zod';
import { parseJwt, type Jwt } from '../../shared/crypto/jwt.ts';
import { MEMBER_SCOPES, ScopeSchema, type Scope } from '../../shared/identity/principal.ts';
import type { Proven } from '../../sign-in/identities/claims.ts';
import { usableUntil, whyNotNow } from '../assertion-times.ts';
import { coversAudience, parseAudience } from '../audience.ts';
import { parseScopes } from '../authorization-request.ts';
import { OAuthError } from '../oauth-error.ts';

const TYPE = 'oauth-id-jag+jwt';
/** Large enough for a person's groups, and leaves room for the rest of the form. */
const MAX_CHARS = 12_288;
const MAX_RESOURCES = 20;

const time = z.number().finite();
const id = z.string().min(1).max(1_000);
/** Claims that are refused: bound keys, rights beyond scopes, an actor, and a tenant of ours. */
const NOT_HERE = ['cnf', 'authorization_details', 'act', 'aud_tenant'] as const;
const ClaimsSchema = z.looseObject({
  iss: id,
  sub: id,
  aud: z.union([z.string(), z.array(z.string()).length(1)]),
  client_id: z.string().max(2_000),
  jti: id,
  exp: time,
  iat: time,
  nbf: time.optional(),
  resource: z.union([z.string(), z.array(z.string()).min(1).max(MAX_RESOURCES)]).optional(),
  scope: z.string().optional(),
  tenant: id.optional(),
});

export type IdentityAssertion = Omit<Jwt, 'claims'> & { claims: z.infer<typeof ClaimsSchema> };

export const refused = (what: string) => new OAuthError('invalid_grant', `The assertion ${what}`);

/**
 * Parses an assertion and checks that it is for this client at this gateway, now. The signature is not checked yet.
 * @param clientId of the authenticated client
 * @param now milliseconds since the epoch
 * @throws OAuthError `invalid_grant`
 */
export function parseIdentityAssertion(
  text: string,
  clientId: string,
  issuer: string,
  now: number,
): IdentityAssertion {
  const jwt = parseJwt(text, MAX_CHARS);
  const parsed = ClaimsSchema.safeParse(jwt?.claims);
  if (jwt?.header['typ'] !== TYPE || !parsed.success) throw refused('is not an ID-JAG');
  const claims = parsed.data;
  if ([claims.aud].flat()[0] !== issuer) throw refused('is for another audience');
  if (claims.client_id !== clientId) throw refused('is for another client');
  const bound = NOT_HERE.find(name => Object.hasOwn(claims, name));
  if (bound !== undefined) throw refused(`has ${bound}, which is not supported here`);
  const problem = whyNotNow(claims, now);
  if (problem !== undefined) throw refused(problem);
  return { ...jwt, claims };
}

/** Returns the person that the assertion is about. */
export const provenBy = ({ claims }: IdentityAssertion): Proven => ({
  issuer: claims.iss,
  subject: claims.sub,
  claims,
});

/** Returns until when it could be replayed, in milliseconds since the epoch, and a key that is unique among an issuer's assertions. */
export const onceOf = ({ claims }: IdentityAssertion): { until: number; key: string } => ({
  until: usableUntil(claims),
  key: JSON.stringify(['id-jag', claims.iss, claims.jti]),
});

/**
 * Returns the audience of the access token: the resource that the assertion names. If it names none, the client may, as with other grants.
 * @param asked values of `resource` in the request: the same, or one below it
 * @throws OAuthError `invalid_grant`, `invalid_target`
 */
export function audienceOf(
  { claims: { resource } }: IdentityAssertion,
  asked: readonly string[],
  origin: string,
): string {
  if (resource === undefined) return parseAudience(asked, origin);
  const named = [resource].flat().map(one => ours(one, origin));
  const [only = '', ...more] = named;
  if (asked.length === 0 && more.length === 0) return only;
  const wanted = parseAudience(asked, origin);
  const found = named.find(each => coversAudience(each, wanted));
  if (found === undefined)
    throw new OAuthError('invalid_target', 'The assertion names another resource');
  return found;
}

function ours(resource: string, origin: string): string {
  try {
    return parseAudience([resource], origin);
  } catch {
    throw refused('names a resource that this gateway does not have');
  }
}

/**
 * Returns the scopes that both the assertion and the request name. An assertion without scopes stands for those of a member.
 * @param requested `scope` of the request; null asks for all that are allowed
 * @throws OAuthError `invalid_grant`, `invalid_scope`
 */
export function scopesOf(
  { claims: { scope } }: IdentityAssertion,
  requested: string | null,
): Scope[] {
  const said = scope?.split(' ');
  const bound = said ? ScopeSchema.options.filter(each => said.includes(each)) : MEMBER_SCOPES;
  if (bound.length === 0) throw refused('names no scope of this gateway');
  const wanted = requested ? parseScopes(requested) : bound;
  const both = bound.filter(each => wanted.includes(each));
  if (both.length === 0) throw new OAuthError('invalid_scope', 'The assertion names other scopes');
  return both;
}
