/**
 * Access tokens by client credentials (RFC 6749 §4.4) for one server: finds the token endpoint and requests a token. `oauth4webapi`
 * implements the protocol; this file decides what may be fetched, how much and for how long (`guarded-fetch.ts`).
 *
 * Invariants: no client secret is sent before its receiver's address was checked; of an authorization server's texts only the
 * specification's error codes are repeated; no request is sent twice, except if the server does not know the client in the first form of
 * Basic (`basic-authentication.ts`).
 */
import * as oauth from 'oauth4webapi';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Granted, GrantRequest, TokenEndpoint } from './grant-schema.ts';
import { basicAuthentications } from './basic-authentication.ts';
import { decideAddress, mayNameLoopback } from '../../http/address-policy.ts';
import { createGuardedFetch } from '../../http/guarded-fetch.ts';
import { toResource } from './resource-metadata.ts';
import { discoverTokenEndpoint } from './token-endpoint.ts';

/** Time limit for all requests for one token, in milliseconds. */
const GRANT_MS = 15_000;
/** Lifetime of a token without `expires_in`, in seconds. */
const DEFAULT_LIFETIME_S = 300;
const LIFETIME_S = { min: 10, max: 86_400 };
const MAX_TOKEN_CHARS = 16_384;
const ERROR_CODE =
  /^(?:invalid_(?:request|client|grant|scope|target)|unauthorized_client|unsupported_grant_type|server_error|temporarily_unavailable)$/;

/** Gets tokens for servers. */
export class ClientCredentials {
  readonly #allowsLoopback: boolean;

  constructor(allowsLoopback: boolean) {
    this.#allowsLoopback = allowsLoopback;
  }

  /**
   * Finds a server's token endpoint: the given URL, or the one in the metadata of the server's authorization server.
   * @throws PorticoError `credential_unavailable`
   */
  async find(serverUrl: string, tokenUrl: string | undefined): Promise<TokenEndpoint> {
    if (tokenUrl !== undefined) {
      const { origin } = new URL(tokenUrl);
      return { url: tokenUrl, origin, method: 'basic', resource: toResource(serverUrl) };
    }
    const isHere = mayNameLoopback(serverUrl, this.#allowsLoopback);
    const endpoint = await this.#guarded(isHere, fetch =>
      discoverTokenEndpoint(new URL(serverUrl), fetch),
    );
    if (decideAddress(endpoint.url, isHere).allowed) return endpoint;
    throw unavailable('The address of the authorization server is not allowed');
  }

  /** @throws PorticoError `credential_unavailable` */
  async request({ url, method }: TokenEndpoint, request: GrantRequest): Promise<Granted> {
    const { clientId, clientSecret, parameters } = request;
    const server = { issuer: new URL(url).origin, token_endpoint: url };
    const client = { client_id: clientId };
    const [first, other] =
      method === 'post'
        ? [oauth.ClientSecretPost(clientSecret)]
        : basicAuthentications(clientId, clientSecret);
    const answer = await this.#guarded(this.#allowsLoopback, async fetch => {
      const options = { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true };
      const attempt = async (authentication: oauth.ClientAuth = oauth.None()) => {
        const form = new URLSearchParams(parameters);
        const response = await oauth.clientCredentialsGrantRequest(
          server,
          client,
          authentication,
          form,
          options,
        );
        return oauth.processClientCredentialsResponse(server, client, response);
      };
      return attempt(first).catch((error: unknown) => {
        if (!other || !isUnknownClient(error)) throw error;
        return attempt(other);
      });
    });
    const { access_token: token, token_type: type, expires_in: lifetime } = answer;
    if (type !== 'bearer' || token.length > MAX_TOKEN_CHARS || !/^[\x21-\x7e]+$/.test(token)) {
      throw unavailable('The authorization server gave a token that is not a valid bearer token');
    }
    const seconds = Math.floor(lifetime ?? DEFAULT_LIFETIME_S);
    const lifetimeMs = Math.min(Math.max(seconds, LIFETIME_S.min), LIFETIME_S.max) * 1000;
    return { token, lifetimeMs };
  }

  /** Runs work with a time limit; its errors do not repeat the other side's text. */
  async #guarded<T>(
    allowsLoopback: boolean,
    work: (fetch: typeof globalThis.fetch) => Promise<T>,
  ): Promise<T> {
    const signal = AbortSignal.timeout(GRANT_MS);
    try {
      return await work(createGuardedFetch(allowsLoopback, signal));
    } catch (error) {
      if (error instanceof PorticoError) throw error;
      throw unavailable(reasonOf(error));
    }
  }
}

/** Whether the authorization server did not accept the client's authentication. */
function isUnknownClient(error: unknown): boolean {
  if (error instanceof oauth.WWWAuthenticateChallengeError) return error.status === 401;
  return error instanceof oauth.ResponseBodyError && error.error === 'invalid_client';
}

function reasonOf(error: unknown): string {
  if (isUnknownClient(error)) return 'The authorization server refused: invalid_client';
  if (error instanceof oauth.ResponseBodyError && ERROR_CODE.test(error.error)) {
    return `The authorization server refused: ${error.error}`;
  }
  if (error instanceof oauth.ResponseBodyError) return 'The authorization server refused';
  return 'The answer of the authorization server is not valid';
}

const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
