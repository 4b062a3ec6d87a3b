/**
 * Access tokens by client credentials (RFC 6749 §4.4), for one server: where its tokens come from, and getting one. What the
 * protocol says is `oauth4webapi`; what may be fetched, how much of it and for how long is decided here (`guarded-fetch.ts`).
 *
 * Invariants: no client secret leaves before its receiver's address was judged; no text of an authorization server is
 * repeated but the error codes of the specification; nothing is sent twice, but for a client that the server does not know in the first
 * form of Basic (`basic-authentication.ts`).
 */
import * as oauth from 'oauth4webapi';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Granted, GrantRequest, TokenEndpoint } from './grant-schema.ts';
import { basicAuthentications } from './basic-authentication.ts';
import { createGuardedFetch } from '../../http/guarded-fetch.ts';
import { toResource } from './resource-metadata.ts';
import { discoverTokenEndpoint } from './token-endpoint.ts';

/** Longest time of all requests for one token, in milliseconds. */
const GRANT_MS = 15_000;
/** Lifetime of a token whose server does not tell it, in seconds. */
const DEFAULT_LIFETIME_S = 300;
const LIFETIME_S = { min: 10, max: 86_400 };
const MAX_TOKEN_CHARS = 16_384;
const ERROR_CODE =
  /^(?:invalid_(?:request|client|grant|scope|target)|unauthorized_client|unsupported_grant_type|server_error|temporarily_unavailable)$/;

/** Gets tokens for servers; one for each place that may be on loopback or not. */
export class ClientCredentials {
  readonly #allowsLoopback: boolean;

  constructor(allowsLoopback: boolean) {
    this.#allowsLoopback = allowsLoopback;
  }

  /**
   * Where a server's tokens come from: the given address, or what the server and its authorization server say of themselves.
   * @throws PorticoError `credential_unavailable`
   */
  async find(serverUrl: string, tokenUrl: string | undefined): Promise<TokenEndpoint> {
    if (tokenUrl !== undefined) {
      const { origin } = new URL(tokenUrl);
      return { url: tokenUrl, origin, method: 'basic', resource: toResource(serverUrl) };
    }
    return this.#guarded(fetch => discoverTokenEndpoint(new URL(serverUrl), fetch));
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
    const answer = await this.#guarded(async fetch => {
      const options = { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true };
      const ask = async (authentication: oauth.ClientAuth = oauth.None()) => {
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
      return ask(first).catch((error: unknown) => {
        if (!other || !isUnknownClient(error)) throw error;
        return ask(other);
      });
    });
    const { access_token: token, token_type: type, expires_in: lifetime } = answer;
    if (type !== 'bearer' || token.length > MAX_TOKEN_CHARS || !/^[\x21-\x7e]+$/.test(token)) {
      throw unavailable('The authorization server gave a token of another kind');
    }
    const seconds = Math.floor(lifetime ?? DEFAULT_LIFETIME_S);
    const lifetimeMs = Math.min(Math.max(seconds, LIFETIME_S.min), LIFETIME_S.max) * 1000;
    return { token, lifetimeMs };
  }

  /** Work with an end, whose failures are told without what the other side said. */
  async #guarded<T>(work: (fetch: typeof globalThis.fetch) => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(GRANT_MS);
    try {
      return await work(createGuardedFetch(this.#allowsLoopback, signal));
    } catch (error) {
      if (error instanceof PorticoError) throw error;
      throw unavailable(reasonOf(error));
    }
  }
}

/** Whether the authorization server did not know the client by what it was sent. */
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
