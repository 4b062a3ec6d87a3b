/**
 * What passes between who connects accounts of people by OAuth and who speaks with authorization servers. Source: MCP 2026-07-28,
 * Authorization.
 */
import type { AuthorizationServer } from 'oauth4webapi';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Challenge } from './challenge.ts';

/** Who lets people into a server, as server and authorization server say of themselves. */
export interface Authorizer {
  /** Exactly as both have it. */
  issuer: string;
  /** The server as a resource indicator (RFC 8707). */
  resource: string;
  metadata: AuthorizationServer;
  /** What to ask for: of the challenge, else of the resource's metadata; undefined where neither names any. */
  scope: string | undefined;
}

/** What is known before a server is asked. */
export interface FindOptions {
  /** Of the 401 or 403 that led here; without it the server is asked. */
  challenge?: Challenge;
  /** The only issuer that will do: that of the administrator's own client. Used as well where the server names none. */
  issuer?: string;
}

/** How a client shows its secret at the token endpoint. */
export type ClientMethod = 'none' | 'basic' | 'post';

/** A client of ours at an issuer. Holds a secret: never logged, never answered. */
export interface UpstreamClient {
  clientId: string;
  /** Undefined with the method `none`. */
  clientSecret: string | undefined;
  method: ClientMethod;
  /** Set up by an administrator, our client metadata document, or made by the issuer (RFC 7591). */
  source: 'given' | 'document' | 'registered';
}

/** One sign-in of a person, from leaving to coming back. */
export interface CodeRequest {
  redirectUri: string;
  /** Undefined: none is asked for. */
  scope: string | undefined;
  state: string;
  /** Of PKCE. */
  verifier: string;
}

/** Where tokens are renewed and revoked. */
export interface TokenPlace {
  issuer: string;
  resource: string;
  tokenEndpoint: string;
  revocationEndpoint: string | undefined;
}

/** Tokens that were given. Never logged, never answered. */
export interface IssuedTokens {
  accessToken: string;
  /** Undefined where none came: a former one stays good. */
  refreshToken: string | undefined;
  /** Undefined where it is what was asked for. */
  scope: string | undefined;
  lifetimeMs: number;
}

/** The authorization server said no: to ask the same again does not help. */
export class GrantRefused extends PorticoError {
  /** The error's code, where it is one of the specification; else `other`, for which nothing that is kept need go. */
  readonly reason: string;

  constructor(reason: string, detail: string) {
    super('credential_unavailable', detail);
    this.reason = reason;
  }
}

/** A server names issuers, and not the one that was asked for. */
export class OtherIssuer extends PorticoError {
  constructor() {
    super(
      'credential_unavailable',
      'The server names another authorization server than its client is of',
    );
  }
}

/** Speaks with authorization servers. All throw PorticoError `credential_unavailable`, and GrantRefused where the answer is no. */
export interface CodeFlowPort {
  /** Who lets people into a server; OtherIssuer where `options.issuer` is not among those. */
  find(serverUrl: string, options?: FindOptions): Promise<Authorizer>;
  /** Make a client there. @param clientUri the gateway's own address */
  register(
    authorizer: Authorizer,
    given: { redirectUri: string; clientUri: string },
  ): Promise<UpstreamClient>;
  /** Where the browser goes. */
  toAuthorizationUrl(
    authorizer: Authorizer,
    client: UpstreamClient,
    request: CodeRequest,
  ): Promise<URL>;
  /** @param answer the address that the browser came back to */
  exchange(
    authorizer: Authorizer,
    client: UpstreamClient,
    request: CodeRequest,
    answer: URL,
  ): Promise<IssuedTokens>;
  refresh(place: TokenPlace, client: UpstreamClient, refreshToken: string): Promise<IssuedTokens>;
  /** Whether the token was revoked there; false where the issuer revokes none. */
  revoke(place: TokenPlace, client: UpstreamClient, token: string): Promise<boolean>;
}
