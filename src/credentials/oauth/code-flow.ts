/**
 * The gateway as a client of the authorization servers of MCP servers, for people's accounts: authorization code with PKCE, and what
 * follows from it. Requests are made by `oauth4webapi`; what may be fetched, how much of it and for how long is decided here
 * (`guarded-fetch.ts`). Source: MCP 2026-07-28, Authorization.
 *
 * Invariants: the issuer is the same text in the server's metadata, its own and the answer, and is compared before a code leaves; no
 * secret leaves before its receiver's address was judged; no text of an authorization server is repeated but the error codes of the
 * specification; nothing is sent twice, but for a client that the server does not know in the first form of Basic.
 */
import * as oauth from 'oauth4webapi';
import { decideAddress } from '../../http/address-policy.ts';
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

/** Longest time of all requests of one step, in milliseconds. */
const STEP_MS = 15_000;

type Fetch = typeof globalThis.fetch;

/** Works with authorization servers; one for each place that may be on loopback or not. */
export class CodeFlow implements CodeFlowPort {
  readonly #allowsLoopback: boolean;

  constructor(allowsLoopback: boolean) {
    this.#allowsLoopback = allowsLoopback;
  }

  find(serverUrl: string, options: FindOptions = {}): Promise<Authorizer> {
    return this.#guarded(fetch => discoverAuthorizer(serverUrl, fetch, options));
  }

  register(
    authorizer: Authorizer,
    given: { redirectUri: string; clientUri: string },
  ): Promise<UpstreamClient> {
    return this.#guarded(fetch => registerClient(authorizer, given, fetch));
  }

  async toAuthorizationUrl(
    { metadata, resource }: Authorizer,
    { clientId }: UpstreamClient,
    { redirectUri, scope, state, verifier }: CodeRequest,
  ): Promise<URL> {
    const address = decideAddress(metadata.authorization_endpoint ?? '', this.#allowsLoopback);
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
      // Without it OpenID providers give no refresh token (OpenID Connect Core §11).
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
    return this.#ask(client, false, (authentication, fetch) =>
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
    return this.#ask(client, true, (authentication, fetch) =>
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
    { issuer, revocationEndpoint }: TokenPlace,
    client: UpstreamClient,
    token: string,
  ): Promise<boolean> {
    if (revocationEndpoint === undefined) return false;
    await this.#tryForms(
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

  #ask(client: UpstreamClient, isRenewable: boolean, send: Send): Promise<IssuedTokens> {
    return this.#tryForms(client, send, (status, body) => readTokens(status, body, isRenewable));
  }

  /** Sends a request as the client; once more in the other form of Basic where the client was not known in the first. */
  #tryForms<T>(
    client: UpstreamClient,
    send: Send,
    read: (status: number, body: unknown) => T,
  ): Promise<T> {
    const [first, other] = authenticationsOf(client);
    return this.#guarded(async fetch => {
      const ask = async (authentication: oauth.ClientAuth): Promise<T> => {
        const response = await send(authentication, fetch);
        return read(response.status, await response.json().catch(() => undefined));
      };
      return ask(first).catch((error: unknown) => {
        const isUnknown = error instanceof GrantRefused && error.reason === 'invalid_client';
        if (!other || !isUnknown) throw error;
        return ask(other);
      });
    });
  }

  /** Work with an end, whose failures are told without what the other side said. */
  async #guarded<T>(work: (fetch: Fetch) => Promise<T>): Promise<T> {
    try {
      return await work(createGuardedFetch(this.#allowsLoopback, AbortSignal.timeout(STEP_MS)));
    } catch (error) {
      throw error instanceof PorticoError ? error : unusable();
    }
  }
}

type Send = (authentication: oauth.ClientAuth, fetch: Fetch) => Promise<Response>;

// The guarded fetch decides what may be asked without TLS.
const toOptions = (fetch: Fetch) => ({
  [oauth.customFetch]: fetch,
  [oauth.allowInsecureRequests]: true,
});

/** The ways in which a client shows itself, to be tried one after the other. */
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
 * What the browser brought back, where it is this issuer's answer to this request (RFC 9207 §2.4).
 * @throws GrantRefused
 */
function readAnswer(
  metadata: oauth.AuthorizationServer,
  clientId: string,
  answer: URL,
  state: string,
): URLSearchParams {
  const { searchParams } = answer;
  // An empty one is one that is there, and another.
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
  new GrantRefused('other', 'The answer is not one to this request, or not of its issuer');
const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
