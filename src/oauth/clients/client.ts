/** Clients that may ask for tokens, and the interface by which the rest of the authorization server knows them. */
import { z } from 'zod';

/** The grant type of programs that show a code (RFC 8628 §3.4). */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** How a client shows at `/token` that it is itself. */
export const AUTH_METHODS = [
  'none',
  'private_key_jwt',
  'client_secret_basic',
  'client_secret_post',
] as const;
export const AuthMethodSchema = z.enum(AUTH_METHODS);
export type AuthMethod = z.infer<typeof AuthMethodSchema>;

export interface OAuthClient {
  /** As it names itself: the URL of its document, or what it was given. */
  id: string;
  /** `document`: its metadata is at its id (CIMD); `registered`: by itself (RFC 7591); `manual`: by an administrator. */
  kind: 'document' | 'registered' | 'manual';
  /** As it calls itself: nobody checked it. */
  name: string;
  redirectUris: readonly string[];
  authMethods: readonly AuthMethod[];
}

/** A client that showed who it is, and how. */
export type AuthenticatedClient = OAuthClient & { method: AuthMethod };

export interface OAuthClients {
  /**
   * The client of an id; undefined where there is none.
   * @throws OAuthError `invalid_client` where its document is not right, `temporarily_unavailable` where it cannot be had now
   */
  find(clientId: string): Promise<OAuthClient | undefined>;
  /**
   * The client that asks at `/token` or `/revoke`, by whatever method it uses.
   * @param issuer our own issuer, the audience of an assertion; `{issuer}/token` is another
   * @throws OAuthError `invalid_request`, `invalid_client`, `temporarily_unavailable`
   */
  authenticate(
    headers: Headers,
    form: URLSearchParams,
    issuer: string,
  ): Promise<AuthenticatedClient>;
  /** Note that it was used: a registered one that nobody uses is forgotten. */
  touch(client: OAuthClient, now: number): Promise<void>;
}
