/**
 * Sign-in with an OpenID provider: authorization code with PKCE, state and nonce. The library `oauth4webapi` implements the protocol; this
 * file decides what may be fetched, how much of it and for how long (`guarded-fetch.ts`).
 *
 * Invariants: the issuer is the configured one, in metadata, response and ID token; the signature of the ID token is verified although it
 * came over TLS; no text of a provider is repeated in a message.
 */
import * as oauth from 'oauth4webapi';
import { decideAddress } from '../../http/address-policy.ts';
import { createGuardedFetch } from '../../http/guarded-fetch.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Proven } from '../identities/claims.ts';
import type { Provider } from '../providers/providers-schema.ts';
import type { Pending } from './pending.ts';

/** Time limit for all requests of one step, in milliseconds. */
const STEP_MS = 15_000;
const MAX_BYTES = 262_144;

export interface OidcPorts {
  allowsLoopback: boolean;
  /** Returns the client secret for an origin that it may be sent to; undefined if the provider has no secret. */
  secretOf(provider: Provider, origin: string): Promise<string | undefined>;
}

/** Returns the URL where the browser signs in. @throws PorticoError `credential_unavailable` */
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
 * Returns who the person is, from the provider's response.
 * @param url that the browser returned to
 * @throws PorticoError `forbidden` if anything in it is invalid, `credential_unavailable`
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

/** A request that the library makes: for a token, or for the provider's metadata. */
interface LibraryRequest {
  method: string;
  headers: Record<string, string>;
  body?: URLSearchParams | undefined;
}
type Options = ReturnType<typeof toOptions>;

const toOptions = (fetch: typeof globalThis.fetch) => ({
  [oauth.customFetch]: (url: string, { method, headers, body }: LibraryRequest) =>
    fetch(url, { method, headers, ...(body ? { body } : {}) }),
  // The guarded fetch decides which addresses may be fetched without TLS.
  [oauth.allowInsecureRequests]: true,
});

async function discover({ issuer }: Provider, options: Options) {
  const url = new URL(issuer);
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
}

/** How the client sends its secret: in the body if the provider accepts that, since there it has only one encoding. */
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
  new PorticoError('forbidden', `${name} did not sign you in; start again`);

/** Runs work with a time limit. Errors do not repeat what the provider said. */
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
