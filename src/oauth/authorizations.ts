/**
 * The work behind the page `/authorize`: checks a client's request, asks a signed-in person once, and gives the client a code. A person can
 * only hand on rights that the person has.
 */
import { randomBytes, toBase64Url } from '../shared/crypto/base64url.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import type { SignedIn } from '../sign-in/signed-in.ts';
import {
  AuthorizationRequestSchema,
  findReturn,
  parseAuthorization,
  toReturnUrl,
  type AuthorizationRequest,
} from './authorization-request.ts';
import type { OAuthClient, OAuthClients } from './clients/client.ts';
import { describeRedirect, matchesRedirect } from './clients/redirects.ts';
import { insertRequest, isAllowedBefore, keepConsent, takeRequest } from './consent-store.ts';
import { createOpaque, toKept } from './grants/grant.ts';
import { makeGrant, within, type MakeGrantPorts } from './grants/make-grant.ts';
import { OAuthError, toOAuthError } from './oauth-error.ts';

export interface AuthorizationPorts extends MakeGrantPorts {
  keys: KeyRing;
  clients: OAuthClients;
}

/** A response to the client: the browser goes to `url`. */
export interface Return {
  kind: 'return';
  url: string;
  redirectUri: string;
}

/** A question to the signed-in person. */
export interface Question {
  kind: 'ask';
  handle: string;
  client: OAuthClient;
  request: AuthorizationRequest;
}

export class Authorizations {
  readonly #ports: AuthorizationPorts;

  constructor(ports: AuthorizationPorts) {
    this.#ports = ports;
  }

  /**
   * Checks the client and the redirect before anybody is signed in. Other errors go to the client only after sign-in: anybody can register
   * a client, and our address must not lead strangers to it (RFC 9700 §4.11.2).
   * @throws OAuthError that is shown to the person and not sent to the client
   */
  async checkClient(query: URLSearchParams, issuer: string): Promise<void> {
    await this.#parse(query, issuer);
  }

  /**
   * Returns the next step for a signed-in person.
   * @throws OAuthError that is shown to the person and not sent to the client
   */
  async next(
    query: URLSearchParams,
    issuer: string,
    signedIn: SignedIn,
  ): Promise<Return | Question> {
    const found = await this.#parse(query, issuer);
    if ('url' in found) return { kind: 'return', ...found };
    const { client } = found;
    const scopes = within(found.request.scopes, signedIn);
    const request = { ...found.request, scopes };
    if (scopes.length === 0) return refused(request, issuer, noScope());
    const { db, keys, now } = this.#ports;
    const isWeb = describeRedirect(request.redirectUri).kind === 'web';
    if (isWeb && (await isAllowedBefore(db, signedIn, request, now()))) {
      return this.#allow(client, request, issuer, signedIn);
    }
    const handle = toBase64Url(randomBytes(32));
    const [hmac = ''] = await keys.hmacs('oauth', `request:${handle}`);
    await db.batch(insertRequest(db, hmac, signedIn.id, request, now()));
    return { kind: 'ask', handle, client, request };
  }

  /**
   * Applies the person's decision about a request; each decision counts once.
   * @throws OAuthError if the request is not this person's, was decided already or is too old
   */
  async decide(
    handle: string,
    isAllowed: boolean,
    issuer: string,
    signedIn: SignedIn,
  ): Promise<Return> {
    const { db, keys, clients, now } = this.#ports;
    const hmacs = await keys.hmacs('oauth', `request:${handle.slice(0, 100)}`);
    const request = await takeRequest(db, hmacs, signedIn.id, now(), AuthorizationRequestSchema);
    if (!request) {
      throw new OAuthError('invalid_request', 'This page is too old; go back to your program');
    }
    if (!isAllowed) {
      return refused(request, issuer, new OAuthError('access_denied', 'The user did not allow it'));
    }
    const client = await clients.find(request.clientId);
    if (!client || !matchesRedirect(client.redirectUris, request.redirectUri)) {
      throw new OAuthError('invalid_client', 'The client no longer exists');
    }
    return this.#allow(client, request, issuer, signedIn);
  }

  async #parse(
    query: URLSearchParams,
    issuer: string,
  ): Promise<
    { client: OAuthClient; request: AuthorizationRequest } | { url: string; redirectUri: string }
  > {
    const [clientId, ...more] = query.getAll('client_id');
    if (clientId === undefined || more.length > 0) {
      throw new OAuthError('invalid_request', 'client_id must be given exactly once');
    }
    const client = await this.#ports.clients.find(clientId);
    if (!client) {
      throw new OAuthError(
        'invalid_client',
        'This client is not known; remove the connection in your program and add it again',
      );
    }
    const returnTo = findReturn(query, client, matchesRedirect);
    try {
      return { client, request: parseAuthorization(query, client, returnTo, issuer) };
    } catch (thrown) {
      return refused(returnTo, issuer, toOAuthError(thrown));
    }
  }

  /** Creates the grant and its code. */
  async #allow(
    client: OAuthClient,
    given: AuthorizationRequest,
    issuer: string,
    signedIn: SignedIn,
  ): Promise<Return> {
    const { db, keys } = this.#ports;
    const request = { ...given, scopes: within(given.scopes, signedIn) };
    // What the person may grant can have changed since the page was shown.
    if (request.scopes.length === 0) return refused(request, issuer, noScope());
    const code = createOpaque('code');
    const [codeHmac = ''] = await keys.hmacs('oauth', toKept('code', code));
    await makeGrant(this.#ports, signedIn, {
      name: client.name,
      granted: request,
      codeHmac,
      andThen: (id, now) => [keepConsent(db, signedIn.principalId, request, id, now)],
    });
    const { redirectUri } = request;
    return { kind: 'return', url: toReturnUrl(request, issuer, { code }), redirectUri };
  }
}

const noScope = () =>
  new OAuthError('access_denied', 'This person may not grant any of these scopes');

const refused = (
  returnTo: { redirectUri: string; state: string | null },
  issuer: string,
  { code, message }: OAuthError,
) => ({
  kind: 'return' as const,
  url: toReturnUrl(returnTo, issuer, { error: code, error_description: message }),
  redirectUri: returnTo.redirectUri,
});
