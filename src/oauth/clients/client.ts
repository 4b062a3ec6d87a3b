/** Clients that may ask for tokens, and the interface through which the rest of the authorization server uses them. */
import { z } from 'zod';

/** The device grant type, for programs that show a code (RFC 8628 §3.4). */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** How a client authenticates at `/token`. */
export const AUTH_METHODS = [
  'none',
  'private_key_jwt',
  'client_secret_basic',
  'client_secret_post',
] as const;
export const AuthMethodSchema = z.enum(AUTH_METHODS);
export type AuthMethod = z.infer<typeof AuthMethodSchema>;

export interface OAuthClient {
  /** Its `client_id`: the URL of its document, or an id that the gateway created. */
  id: string;
  /** `document`: its metadata is at its id (CIMD); `registered`: it registered itself (RFC 7591); `manual`: created by an administrator. */
  kind: 'document' | 'registered' | 'manual';
  /** The name it gives itself; nobody verified it. */
  name: string;
  redirectUris: readonly string[];
  authMethods: readonly AuthMethod[];
}

/** An authenticated client, with the method it used. */
export type AuthenticatedClient = OAuthClient & { method: AuthMethod };

export interface OAuthClients {
  /**
   * Finds a client by its id.
   * @throws OAuthError `invalid_client` if its document is invalid, `temporarily_unavailable` if the document cannot be read now
   */
  find(clientId: string): Promise<OAuthClient | undefined>;
  /**
   * Authenticates the client of a request to `/token` or `/revoke`, by whatever method it uses.
   * @param issuer our own issuer, the audience of an assertion; `{issuer}/token` is accepted too
   * @throws OAuthError `invalid_request`, `invalid_client`, `temporarily_unavailable`
   */
  authenticate(
    headers: Headers,
    form: URLSearchParams,
    issuer: string,
  ): Promise<AuthenticatedClient>;
  /**
   * Records that the client was used; unused clients are deleted. To be called once what the client shows proves that somebody let it in,
   * since anybody can send an id; and before anything is issued, so that a client can repeat a request that fails here.
   */
  touch(client: OAuthClient, now: number): Promise<void>;
}
