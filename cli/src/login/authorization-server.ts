/**
 * Talks to a gateway's authorization server with `oauth4webapi`: discovers it, registers this command line as a client, and validates every
 * response. Loaded only by `portico login` and a token refresh.
 */
import * as oauth from 'oauth4webapi';
import { BodyTooLarge, readText } from '../../../src/http/read-text.ts';
import { EXIT, Failure } from '../failure.ts';
import { reasonOf } from '../stdio/refusal.ts';
import type { Login } from './login-store.ts';

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 262_144;
const CLIENT_NAME = 'Portico command line';
/** The port is not compared (RFC 8252 §7.3). */
export const CALLBACK_PATH = '/callback';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

export interface AuthorizationServer {
  /** Origin of the gateway, which is also the audience. */
  origin: string;
  as: oauth.AuthorizationServer;
}

/** Reads a response whole, within a size limit. */
const fetchBounded = async (url: string, init: object): Promise<Response> => {
  const response = await fetch(url, init as RequestInit);
  const text = await readText(response, response.headers, MAX_ANSWER_BYTES);
  const { status, headers } = response;
  return new Response(text === '' ? null : text, { status, headers });
};

/** Options of every request. Plain http is allowed only for loopback, which was checked with the gateway's URL. */
export const optionsFor = (origin: string, signal?: AbortSignal) => ({
  [oauth.customFetch]: fetchBounded,
  [oauth.allowInsecureRequests]: origin.startsWith('http:'),
  signal: () => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    return signal ? AbortSignal.any([signal, timeout]) : timeout;
  },
});

/** @throws Failure where there is no gateway, or it does not support sign-in */
export async function findServer(origin: string): Promise<AuthorizationServer> {
  const [url, options] = [new URL(origin), optionsFor(origin)];
  return during(origin, async () => {
    const resource = await oauth.processResourceDiscoveryResponse(
      url,
      await oauth.resourceDiscoveryRequest(url, options),
    );
    // A gateway is its own authorization server: tokens go to no other origin.
    if (resource.authorization_servers?.[0] !== origin) throw noGateway(origin);
    const found = await oauth.discoveryRequest(url, { ...options, algorithm: 'oauth2' });
    const as = await oauth.processDiscoveryResponse(url, found);
    if (!endpointsOf(as).every(text => URL.parse(text)?.origin === origin)) throw noGateway(origin);
    return { origin, as };
  });
}

/** The endpoints that tokens are sent to, and the page that is opened; empty text for a missing one. */
const endpointsOf = (as: oauth.AuthorizationServer): string[] => [
  as.authorization_endpoint ?? '',
  as.token_endpoint ?? '',
  as.registration_endpoint ?? '',
  as.revocation_endpoint ?? '',
  ...(as.device_authorization_endpoint === undefined ? [] : [as.device_authorization_endpoint]),
];

/** Registers this command line as a client. @returns its client id @throws Failure */
export async function register({ origin, as }: AuthorizationServer): Promise<string> {
  const metadata = {
    client_name: CLIENT_NAME,
    redirect_uris: [`http://127.0.0.1${CALLBACK_PATH}`],
    grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  };
  return during(origin, async () => {
    const answer = await oauth.dynamicClientRegistrationRequest(as, metadata, optionsFor(origin));
    return (await oauth.processDynamicClientRegistrationResponse(answer)).client_id;
  });
}

/** What a login requests: the whole gateway and all scopes; it is granted those that the person has. */
export const askedOf = ({ origin, as }: AuthorizationServer): Record<string, string> => ({
  resource: origin,
  ...(as.scopes_supported ? { scope: as.scopes_supported.join(' ') } : {}),
});

/** Makes a login from a token response. @throws Failure where the response has no refresh token */
export function toLogin(
  { origin, as }: AuthorizationServer,
  clientId: string,
  given: oauth.TokenEndpointResponse,
): Login {
  const { token_endpoint: tokens, revocation_endpoint: revocation } = as;
  const { access_token: access, refresh_token: refresh, expires_in: seconds } = given;
  if (tokens === undefined || revocation === undefined || refresh === undefined) {
    throw noGateway(origin);
  }
  return {
    client_id: clientId,
    token_endpoint: tokens,
    revocation_endpoint: revocation,
    access_token: access,
    refresh_token: refresh,
    expires_at: Date.now() + (seconds ?? 0) * 1000,
  };
}

const noGateway = (origin: string) =>
  new Failure(`${origin} is not a Portico gateway with sign-in`);

/** Runs work with a gateway, and turns its errors into one line. @throws Failure */
export async function during<T>(origin: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFailure(error, origin);
  }
}

/** The gateway cannot answer now, but may soon. */
export const isTrouble = (error: unknown): boolean =>
  error instanceof oauth.OperationProcessingError &&
  error.cause instanceof Response &&
  (error.cause.status >= 500 || error.cause.status === 429);

function toFailure(error: unknown, origin: string): unknown {
  if (error instanceof Failure) return error;
  if (
    error instanceof oauth.ResponseBodyError ||
    error instanceof oauth.AuthorizationResponseError
  ) {
    if (error.error === 'access_denied') return new Failure('access was denied', EXIT.denied);
    return new Failure(`${origin} refused: ${error.error_description ?? error.error}`, EXIT.denied);
  }
  if (isTrouble(error)) return new Failure(`${origin} is temporarily failing; try again`);
  if (error instanceof oauth.OperationProcessingError) return noGateway(origin);
  if (error instanceof BodyTooLarge) return noGateway(origin);
  if (error instanceof TypeError || error instanceof DOMException) {
    return new Failure(`${origin} cannot be reached (${reasonOf(error)}); is the URL right?`);
  }
  return error;
}
