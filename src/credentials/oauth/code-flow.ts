/**
 * The gateway as a client of the authorization servers of MCP servers, for people's accounts: authorization code with PKCE, refresh and
 * revocation. `oauth4webapi` builds the requests; this file decides what may be fetched, how much and for how long (`guarded-fetch.ts`).
 * Source: MCP 2026-07-28, Authorization.
 *
 * Invariants: the issuer is the same text in the server's metadata, in its own metadata and in the response, and is compared before a code
 * is sent; no secret is sent before its receiver's address was checked; of an authorization server's texts only the specification's error
 * codes are repeated; no request is sent twice, except if the server does not know the client in the first form of Basic.
 */
import * as oauth from 'oauth4webapi';
import { decideAddress, mayNameLoopback } from '../../http/address-policy.ts';
import { createGuardedFetch } from '../../http/guarded-fetch.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { discoverAuthorizer } from './authorizer.ts';
import { basicAuthentications } from './basic-authentication.ts';
import {
  GrantRefused,
  type Authorizer,
  type CodeFlowPort,
  type CodeRequest,
  type FindOptions,
  type IssuedTokens,
  type TokenPlace,
  type UpstreamClient,
} from './code-flow-schema.ts';
import { registerClient } from './registration.ts';
import { readTokens, refusal, toReason, toRefusal, unusable } from './token-answer.ts';

/** Time limit for all requests of one step, in milliseconds. */
const STEP_MS = 15_000;

type Fetch = typeof globalThis.fetch;

/** Talks to authorization servers. */
export class CodeFlow implements CodeFlowPort {
  readonly #allowsLoopback: boolean;

  constructor(allowsLoopback: boolean) {
    this.#allowsLoopback = allowsLoopback;
  }

  find(serverUrl: string, options: FindOptions = {}): Promise<Authorizer> {
    return this.#guarded(serverUrl, fetch => discoverAuthorizer(serverUrl, fetch, options));
  }

  register(
    authorizer: Authorizer,
    given: { redirectUri: string; clientUri: string },
  ): Promise<UpstreamClient> {
    return this.#guarded(authorizer.resource, fetch => registerClient(authorizer, given, fetch));
  }

  async toAuthorizationUrl(
    { metadata, resource }: Authorizer,
    { clientId }: UpstreamClient,
    { redirectUri, scope, state, verifier }: CodeRequest,
  ): Promise<URL> {
    const isHere = mayNameLoopback(resource, this.#allowsLoopback);
    const address = decideAddress(metadata.authorization_endpoint ?? '', isHere);
    if (!address.allowed) {
      throw unavailable('The address of the authorization server is not allowed');
    }
    const { url } = address;
    url.hash = '';
    const parameters = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      resource,
      ...(scope !== undefined && { scope }),
      // Without it OpenID providers issue no refresh token (OpenID Connect Core §11).
      ...(scope?.split(' ').includes('offline_access') && { prompt: 'consent' }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  }

  async exchange(
    { metadata, resource }: Authorizer,
    client: UpstreamClient,
    { redirectUri, state, verifier }: CodeRequest,
    answer: URL,
  ): Promise<IssuedTokens> {
    const { clientId } = client;
    const parameters = readAnswer(metadata, clientId, answer, state);
    return this.#request(resource, client, false, (authentication, fetch) =>
      oauth.authorizationCodeGrantRequest(
        metadata,
        { client_id: clientId },
        authentication,
        parameters,
        redirectUri,
        verifier,
        { ...toOptions(fetch), additionalParameters: { resource } },
      ),
    );
  }

  refresh(
    { issuer, resource, tokenEndpoint }: TokenPlace,
    client: UpstreamClient,
    refreshToken: string,
  ): Promise<IssuedTokens> {
    return this.#request(resource, client, true, (authentication, fetch) =>
      oauth.refreshTokenGrantRequest(
        { issuer, token_endpoint: tokenEndpoint },
        { client_id: client.clientId },
        authentication,
        refreshToken,
        { ...toOptions(fetch), additionalParameters: { resource } },
      ),
    );
  }

  async revoke(
    { issuer, resource, revocationEndpoint }: TokenPlace,
    client: UpstreamClient,
    token: string,
  ): Promise<boolean> {
    if (revocationEndpoint === undefined) return false;
    await this.#tryForms(
      resource,
      client,
      (authentication, fetch) =>
        oauth.revocationRequest(
          { issuer, revocation_endpoint: revocationEndpoint },
          { client_id: client.clientId },
          authentication,
          token,
          toOptions(fetch),
        ),
      (status, body) => {
        const refused = toRefusal(status, body);
        if (refused) throw refused;
        if (status < 200 || status > 299) throw unusable();
      },
    );
    return true;
  }

  #request(
    resource: string,
    client: UpstreamClient,
    isRenewable: boolean,
    send: Send,
  ): Promise<IssuedTokens> {
    const read = (status: number, body: unknown) => readTokens(status, body, isRenewable);
    return this.#tryForms(resource, client, send, read);
  }

  /** Sends a request as the client; retries once in the other form of Basic if the first was not accepted. */
  #tryForms<T>(
    resource: string,
    client: UpstreamClient,
    send: Send,
    read: (status: number, body: unknown) => T,
  ): Promise<T> {
    const [first, other] = authenticationsOf(client);
    return this.#guarded(resource, async fetch => {
      const request = async (authentication: oauth.ClientAuth): Promise<T> => {
        const response = await send(authentication, fetch);
        return read(response.status, await response.json().catch(() => undefined));
      };
      return request(first).catch((error: unknown) => {
        const isUnknown = error instanceof GrantRefused && error.reason === 'invalid_client';
        if (!other || !isUnknown) throw error;
        return request(other);
      });
    });
  }

  /**
   * Runs work with a time limit; its errors do not repeat the other side's text.
   * @param serverUrl URL of the server, or its resource indicator, which has the same origin
   */
  async #guarded<T>(serverUrl: string, work: (fetch: Fetch) => Promise<T>): Promise<T> {
    const isHere = mayNameLoopback(serverUrl, this.#allowsLoopback);
    try {
      return await work(createGuardedFetch(isHere, AbortSignal.timeout(STEP_MS)));
    } catch (error) {
      throw error instanceof PorticoError ? error : unusable();
    }
  }
}

type Send = (authentication: oauth.ClientAuth, fetch: Fetch) => Promise<Response>;

// The guarded fetch decides which requests may be made without TLS.
const toOptions = (fetch: Fetch) => ({
  [oauth.customFetch]: fetch,
  [oauth.allowInsecureRequests]: true,
});

/** The client's authentications, to be tried in order. */
function authenticationsOf({
  clientId,
  clientSecret,
  method,
}: UpstreamClient): [oauth.ClientAuth, oauth.ClientAuth?] {
  if (method === 'none' || clientSecret === undefined) return [oauth.None()];
  if (method === 'post') return [oauth.ClientSecretPost(clientSecret)];
  const [first = oauth.None(), other] = basicAuthentications(clientId, clientSecret);
  return other ? [first, other] : [first];
}

/**
 * Reads the parameters that the browser brought back, if they are this issuer's response to this request (RFC 9207 §2.4).
 * @throws GrantRefused
 */
function readAnswer(
  metadata: oauth.AuthorizationServer,
  clientId: string,
  answer: URL,
  state: string,
): URLSearchParams {
  const { searchParams } = answer;
  // An empty `iss` counts as present and different.
  const isForeign = searchParams.getAll('iss').some(issuer => issuer !== metadata.issuer);
  if (isForeign) throw notOfThisRequest();
  try {
    const client = { client_id: clientId };
    const checked = oauth.validateAuthResponse(metadata, client, searchParams, state);
    if (checked.getAll('code').length === 1) return checked;
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) throw refusal(toReason(error.error));
  }
  throw notOfThisRequest();
}

const notOfThisRequest = () =>
  new GrantRefused(
    'other',
    'The answer does not belong to this request, or is from another issuer',
  );
const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
