/**
 * `/token` and `/revoke` (RFC 6749 §4.1.3 and §6, RFC 8628 §3.4, RFC 7009), for programs. Faults in a request get the standard's error
 * codes. A fault of our own never looks as if the grant were gone, since the client would start a new sign-in.
 */
import type { AddressBuckets } from './address-buckets.ts';
import { answerForm, NO_STORE } from './answer-form.ts';
import { useIdentityAssertion, type AssertionPorts } from './assertions/use-identity-assertion.ts';
import { requireAudience } from './audience.ts';
import {
  DEVICE_GRANT,
  type AuthenticatedClient,
  type OAuthClient,
  type OAuthClients,
} from './clients/client.ts';
import { readClientCredentials } from './clients/client-credentials.ts';
import { useDeviceCode } from './devices/use-device-code.ts';
import { isOpaque, toKept, type TokenAnswer } from './grants/grant.ts';
import { endGrant, issueForCode, issueForRefresh } from './grants/issue.ts';
import {
  deleteAccessToken,
  findAsserted,
  findByCode,
  findByRefresh,
} from './grants/grant-store.ts';
import type { GRANT_TYPES } from './metadata.ts';
import { isTokenForm, ScopeSchema } from '../shared/identity/principal.ts';
import { forClient, OAuthError } from './oauth-error.ts';
import { isVerifierOf } from './pkce.ts';
import type { Refusals } from './refusals.ts';

export interface TokenPorts extends AssertionPorts {
  clients: OAuthClients;
  refusals: Refusals;
  /** Limits requests with an assertion of the client: each costs a row, and whoever hosts a document with keys can sign any number. */
  assertionLimit: AddressBuckets;
}

/** Responds to a token request. @param origin of the gateway */
export function handleToken(
  request: Request,
  origin: string,
  ports: TokenPorts,
): Promise<Response> {
  return answerForm(request, ports, async form => {
    const type = form.get('grant_type') ?? '';
    if (type === '') throw new OAuthError('invalid_request', 'grant_type is missing');
    const use = USES.get(type);
    if (!use)
      throw new OAuthError('unsupported_grant_type', `Use ${[...USES.keys()].join(' or ')}`);
    const client = await authenticate(request, form, origin, ports);
    const given = await forClient(client.id, () => use(form, client, origin, ports));
    // Whoever gets tokens was let in by somebody. Many people may use one program, from its one address.
    if (client.method === ASSERTED) ports.assertionLimit.giveBack(request, ports.now());
    return Response.json(given, { headers: NO_STORE });
  });
}

/** Responds to a revocation request; it succeeds even if there was no such token. */
export function handleRevoke(
  request: Request,
  origin: string,
  ports: TokenPorts,
): Promise<Response> {
  return answerForm(request, ports, async form => {
    const client = await authenticate(request, form, origin, ports);
    const token = form.get('token');
    if (token === null) throw new OAuthError('invalid_request', 'token is missing');
    await revoke(token, client, ports);
    return new Response(null, { status: 200, headers: NO_STORE });
  });
}

const ASSERTED = 'private_key_jwt';

async function authenticate(
  request: Request,
  form: URLSearchParams,
  origin: string,
  { clients, assertionLimit, now }: TokenPorts,
): Promise<AuthenticatedClient> {
  const { method } = readClientCredentials(request.headers, form);
  if (method === ASSERTED && !assertionLimit.take(request, now())) {
    throw new OAuthError('slow_down', 'Too many requests that gave no tokens; try again later');
  }
  return clients.authenticate(request.headers, form, origin);
}

async function useCode(
  form: URLSearchParams,
  client: OAuthClient,
  origin: string,
  ports: TokenPorts,
): Promise<TokenAnswer> {
  const { db, keys } = ports;
  const code = form.get('code') ?? '';
  const isCode = isOpaque('code', code);
  const grant = isCode
    ? await findByCode(db, await keys.hmacs('oauth', toKept('code', code)))
    : undefined;
  if (grant?.client_id !== client.id || grant.code_challenge === null) throw unknown('code');
  const redirect = form.get('redirect_uri');
  if (redirect !== null && redirect !== grant.redirect_uri) {
    throw new OAuthError(
      'invalid_grant',
      'The redirect_uri differs from that of the authorization request',
    );
  }
  if (!(await isVerifierOf(grant.code_challenge, form.get('code_verifier') ?? ''))) {
    throw new OAuthError('invalid_grant', 'The code_verifier does not match the code_challenge');
  }
  requireAudience(form.getAll('resource'), grant, origin);
  await ports.clients.touch(client, ports.now());
  return issueForCode(grant, ports);
}

async function useRefresh(
  form: URLSearchParams,
  client: OAuthClient,
  origin: string,
  ports: TokenPorts,
): Promise<TokenAnswer> {
  const grant = await findRefreshed(form.get('refresh_token') ?? '', ports);
  if (grant?.client_id !== client.id) throw unknown('refresh_token');
  requireAudience(form.getAll('resource'), grant, origin);
  const requested = (form.get('scope') ?? '').split(' ').filter(scope => scope !== '');
  const known = ScopeSchema.options.filter(scope => requested.includes(scope));
  if (!known.every(scope => grant.scopes.includes(scope))) {
    throw new OAuthError('invalid_scope', 'More scopes than were allowed; sign in again');
  }
  await ports.clients.touch(client, ports.now());
  return issueForRefresh(grant, ports);
}

async function findRefreshed(token: string, { db, keys }: TokenPorts) {
  if (!isOpaque('refresh', token)) return undefined;
  return findByRefresh(db, await keys.hmacs('oauth', toKept('refresh', token)));
}

const unknown = (what: string) =>
  new OAuthError('invalid_grant', `The ${what} is not known to this client; sign in again`);

async function revoke(token: string, client: OAuthClient, ports: TokenPorts): Promise<void> {
  const { db, keys, onAccessChanged } = ports;
  if (isTokenForm(token)) {
    const hmacs = await keys.hmacs('token', token);
    const asserted = await findAsserted(db, hmacs, client.id);
    if (asserted) return endGrant(asserted, 'revoked_by_client', ports);
    const { meta } = await deleteAccessToken(db, hmacs, client.id).run();
    if (meta.changes > 0) await onAccessChanged();
    return;
  }
  const grant = await findRefreshed(token, ports);
  if (grant?.client_id === client.id) await endGrant(grant, 'revoked_by_client', ports);
}

/** The handler of each grant type; the metadata names the same types. */
type Use = (
  form: URLSearchParams,
  client: AuthenticatedClient,
  origin: string,
  ports: TokenPorts,
) => Promise<TokenAnswer>;
const USES: ReadonlyMap<string, Use> = new Map<(typeof GRANT_TYPES)[number], Use>([
  ['authorization_code', useCode],
  ['refresh_token', useRefresh],
  [DEVICE_GRANT, useDeviceCode],
  ['urn:ietf:params:oauth:grant-type:jwt-bearer', useIdentityAssertion],
]);
