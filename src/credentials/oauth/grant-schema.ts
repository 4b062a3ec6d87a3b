/** What passes between who sends access tokens, who keeps them, and who gets them from an authorization server. */
import type { AccessToken } from '../credential-schema.ts';
import type { CredentialOwner, OpenedCredential } from '../opened-credentials.ts';

/** Where tokens for a server come from. */
export interface TokenEndpoint {
  url: string;
  origin: string;
  /** How the client shows its secret (RFC 6749 §2.3.1). */
  method: 'basic' | 'post';
  /** The server as a resource indicator (RFC 8707). */
  resource: string;
}

/** A request for a token. Holds a secret: never logged, never answered. */
export interface GrantRequest {
  clientId: string;
  clientSecret: string;
  /** `scope`, `resource`, `audience`. */
  parameters: Readonly<Record<string, string>>;
}

/** A token that was given. */
export interface Granted {
  token: string;
  lifetimeMs: number;
}

/** Gets tokens over the network. Both throw PorticoError `credential_unavailable`. */
export interface GrantPort {
  find(serverUrl: string, tokenUrl: string | undefined): Promise<TokenEndpoint>;
  request(endpoint: TokenEndpoint, request: GrantRequest): Promise<Granted>;
}

/** Where access tokens of servers are to be had. */
export interface AccessTokenSource {
  /** @throws PorticoError `credential_unavailable` */
  of(server: CredentialOwner, opened: OpenedCredential): Promise<AccessToken>;
  /** The server refused the token with this serial. */
  refuse(server: CredentialOwner, serial: number): Promise<void>;
}

/** What a monitor answers to an isolate that wants a token. */
export type AccessTokenReply = { token: AccessToken } | { failure: string };

/** Where a monitor keeps its server's token, for itself and for all isolates. */
export interface AccessTokenRecords {
  /** Nothing is kept where the credential is at another revision, or a newer token is there. */
  keep(serverId: string, revision: number, token: AccessToken): Promise<unknown>;
  /** The server refused the token with this serial. */
  drop(serverId: string, serial: number): Promise<unknown>;
}
