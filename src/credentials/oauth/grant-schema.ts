/**
 * The interface between the code that sends access tokens, the code that stores them, and the code that gets them from an authorization
 * server.
 */
import type { AccessToken } from '../credential-schema.ts';
import type { CredentialOwner, OpenedCredential } from '../opened-credentials.ts';

/** Where tokens for a server come from. */
export interface TokenEndpoint {
  url: string;
  origin: string;
  /** How the client sends its secret (RFC 6749 §2.3.1). */
  method: 'basic' | 'post';
  /** The server as a resource indicator (RFC 8707). */
  resource: string;
}

/** A request for a token. Contains a secret: must never be logged or returned in a response. */
export interface GrantRequest {
  clientId: string;
  clientSecret: string;
  /** `scope`, `resource`, `audience`. */
  parameters: Readonly<Record<string, string>>;
}

/** An issued token. */
export interface Granted {
  token: string;
  lifetimeMs: number;
}

/** Gets tokens over the network. Both methods throw PorticoError `credential_unavailable`. */
export interface GrantPort {
  find(serverUrl: string, tokenUrl: string | undefined): Promise<TokenEndpoint>;
  request(endpoint: TokenEndpoint, request: GrantRequest): Promise<Granted>;
}

/** Source of the servers' access tokens. */
export interface AccessTokenSource {
  /** @throws PorticoError `credential_unavailable` */
  of(server: CredentialOwner, opened: OpenedCredential): Promise<AccessToken>;
  /** Reports that the server refused the token with this serial. */
  refuse(server: CredentialOwner, serial: number): Promise<void>;
}

/** A monitor's reply to an isolate that requests a token. */
export type AccessTokenReply = { token: AccessToken } | { failure: string };

/** Stores a server's token, for its monitor and for all isolates. */
export interface AccessTokenRecords {
  /** Stores nothing if the credential is at another revision, or if a newer token is stored. */
  keep(serverId: string, revision: number, token: AccessToken): Promise<unknown>;
  /** Erases the token with this serial, which the server refused. */
  drop(serverId: string, serial: number): Promise<unknown>;
}
