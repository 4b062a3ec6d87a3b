/**
 * The interface between the code that connects people's accounts by OAuth and the code that talks to authorization servers. Source: MCP
 * 2026-07-28, Authorization.
 */
import type { AuthorizationServer } from 'oauth4webapi';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Challenge } from './challenge.ts';

/** The authorization server of an MCP server, from the metadata of both. */
export interface Authorizer {
  /** Exactly as both metadata documents write it. */
  issuer: string;
  /** All issuers that the server names, or the only one that an administrator configured. */
  issuers: readonly string[];
  /** The server as a resource indicator (RFC 8707). */
  resource: string;
  metadata: AuthorizationServer;
  /** Scope to request: that of the challenge, else of the resource's metadata; undefined if neither names one. */
  scope: string | undefined;
}

/** Information known before discovery. */
export interface FindOptions {
  /** From the 401 or 403 that led here; without it the server is probed. */
  challenge?: Challenge;
  /** The only acceptable issuer: that of the administrator's own client. Also used if the server names none. */
  issuer?: string;
}

/** How a client authenticates at the token endpoint. */
export type ClientMethod = 'none' | 'basic' | 'post';

/** A client of ours at an issuer. Contains a secret: must never be logged or returned in a response. */
export interface UpstreamClient {
  clientId: string;
  /** Undefined with the method `none`. */
  clientSecret: string | undefined;
  method: ClientMethod;
  /** Configured by an administrator, our client metadata document, or registered by the issuer (RFC 7591). */
  source: 'given' | 'document' | 'registered';
}

/** One sign-in of a person, from leaving to coming back. */
export interface CodeRequest {
  redirectUri: string;
  /** Undefined: no scope is requested. */
  scope: string | undefined;
  state: string;
  /** PKCE code verifier. */
  verifier: string;
}

/** Where tokens are renewed and revoked. */
export interface TokenPlace {
  issuer: string;
  resource: string;
  tokenEndpoint: string;
  revocationEndpoint: string | undefined;
}

/** Issued tokens. Must never be logged or returned in a response. */
export interface IssuedTokens {
  accessToken: string;
  /** Undefined if none was issued: the former one stays valid. */
  refreshToken: string | undefined;
  /** Undefined if it is the requested scope. */
  scope: string | undefined;
  lifetimeMs: number;
}

/** The authorization server refused: repeating the request does not help. */
export class GrantRefused extends PorticoError {
  /** The error code if the specification defines it; else `other`, for which no stored data has to be deleted. */
  readonly reason: string;

  constructor(reason: string, detail: string) {
    super('credential_unavailable', detail);
    this.reason = reason;
  }
}

/** The server names issuers, but not the requested one. */
export class OtherIssuer extends PorticoError {
  constructor() {
    super(
      'credential_unavailable',
      'The server names an authorization server other than the one of its client',
    );
  }
}

/** Talks to authorization servers. Every method throws PorticoError `credential_unavailable`, and GrantRefused if the server refuses. */
export interface CodeFlowPort {
  /** Finds a server's authorization server; throws OtherIssuer if the server names issuers without `options.issuer`. */
  find(serverUrl: string, options?: FindOptions): Promise<Authorizer>;
  /** Registers a client there. @param clientUri the gateway's own URL */
  register(
    authorizer: Authorizer,
    given: { redirectUri: string; clientUri: string },
  ): Promise<UpstreamClient>;
  /** Builds the URL to which the browser is sent. */
  toAuthorizationUrl(
    authorizer: Authorizer,
    client: UpstreamClient,
    request: CodeRequest,
  ): Promise<URL>;
  /** @param answer the URL that the browser came back to */
  exchange(
    authorizer: Authorizer,
    client: UpstreamClient,
    request: CodeRequest,
    answer: URL,
  ): Promise<IssuedTokens>;
  refresh(place: TokenPlace, client: UpstreamClient, refreshToken: string): Promise<IssuedTokens>;
  /** Returns whether the token was revoked; false if the issuer supports no revocation. */
  revoke(place: TokenPlace, client: UpstreamClient, token: string): Promise<boolean>;
}
