/**
 * A sign-in with an OpenID provider: authorization code with PKCE, state and nonce. What the protocol says is `oauth4webapi`; what may be
 * fetched, how much of it and for how long is decided here (`guarded-fetch.ts`).
 *
 * Invariants: the issuer is the one that was set up, in metadata, answer and ID token; the signature of the ID token is checked, though
 * it came over TLS; no text of a provider is repeated.
 */
import * as oauth from 'oauth4webapi';
import { decideAddress } from '../../http/address-policy.ts';
import { createGuardedFetch } from '../../http/guarded-fetch.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Proven } from '../identities/claims.ts';
import type { Provider } from '../providers/providers-schema.ts';
import type { Pending } from './pending.ts';

/** Longest time of all requests of one step, in milliseconds. */
const STEP_MS = 15_000;
const MAX_BYTES = 262_144;

export interface OidcPorts {
  allowsLoopback: boolean;
  /** The client secret, for an origin that it may be sent to; undefined where the provider has none. */
  secretOf(provider: Provider, origin: string): Promise<string | undefined>;
}

/** Where a browser goes to sign in. @throws PorticoError `credential_unavailable` */
export async function toAuthorizationUrl(
  ports: OidcPorts,
  provider: Provider,
  { state, nonce, verifier, redirectUri }: Pending,
): Promise<URL> {
  const { client_id: clientId, settings } = provider;
  const server = await guarded(ports, provider, options => discover(provider, options));
  const address = decideAddress(server.authorization_endpoint ?? '', ports.allowsLoopback);
  if (!address.allowed) throw failed(provider);
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: ['openid', ...settings.scopes].join(' '),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  };
  for (const [name, value] of Object.entries(parameters)) address.url.searchParams.set(name, value);
  return address.url;
}

/**
 * Who somebody is, by the answer of the provider.
 * @param url that the browser came back to
 * @throws PorticoError `forbidden` where anything of it does not fit, `credential_unavailable`
 */
export function readAnswer(
  ports: OidcPorts,
  provider: Provider,
  url: URL,
  { state, nonce, verifier, redirectUri }: Pending,
): Promise<Proven> {
  return guarded(ports, provider, async options => {
    const client: oauth.Client = { client_id: provider.client_id };
    const server = await discover(provider, options);
    const parameters = oauth.validateAuthResponse(server, client, url, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      await authenticationOf(ports, provider, server),
      parameters,
      redirectUri,
      verifier,
      options,
    );
    const answer = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, response, options);
    const claims = oauth.getValidatedIdTokenClaims(answer);
    if (!claims || (claims.azp !== undefined && claims.azp !== provider.client_id)) {
      throw failed(provider);
    }
    return { issuer: claims.iss, subject: claims.sub, claims };
  });
}

/** A request of the library: of a token, or of what a provider says of itself. */
interface Asked {
  method: string;
  headers: Record<string, string>;
  body?: URLSearchParams | undefined;
}
type Options = ReturnType<typeof toOptions>;

const toOptions = (fetch: typeof globalThis.fetch) => ({
  [oauth.customFetch]: (url: string, { method, headers, body }: Asked) =>
    fetch(url, { method, headers, ...(body ? { body } : {}) }),
  // The guarded fetch decides what may be asked without TLS.
  [oauth.allowInsecureRequests]: true,
});

async function discover({ issuer }: Provider, options: Options) {
  const url = new URL(issuer);
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
}

/** How the client shows its secret; in the body where the provider takes that, since there it has one form only. */
async function authenticationOf(
  { secretOf }: OidcPorts,
  provider: Provider,
  server: oauth.AuthorizationServer,
): Promise<oauth.ClientAuth> {
  const { origin } = new URL(server.token_endpoint ?? '');
  const secret = await secretOf(provider, origin);
  if (secret === undefined) return oauth.None();
  const takesBody = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
  return takesBody ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

const failed = ({ name }: Provider) =>
  new PorticoError('forbidden', `${name} did not sign you in; begin anew`);

/** Work with an end, whose failures are told without what the other side said. */
async function guarded<T>(
  { allowsLoopback }: OidcPorts,
  provider: Provider,
  work: (options: Options) => Promise<T>,
): Promise<T> {
  const fetch = createGuardedFetch(allowsLoopback, AbortSignal.timeout(STEP_MS), MAX_BYTES);
  try {
    return await work(toOptions(fetch));
  } catch (error) {
    if (error instanceof PorticoError && error.code === 'forbidden') throw error;
    if (!(error instanceof PorticoError)) throw failed(provider);
    throw new PorticoError(
      'credential_unavailable',
      `${provider.name} cannot be reached; try later`,
    );
  }
}
