/**
 * Finds the authorization server of an MCP server, and the scope to request. Source: MCP 2026-07-28, Authorization Server Discovery, Scope
 * Selection Strategy, Authorization Code Protection. Why: docs/decisions/0053-discovery.md.
 */
import type { AuthorizationServer } from 'oauth4webapi';
import { findServer, isExactly, UnfitServer } from './authorization-server.ts';
import { OtherIssuer, type Authorizer, type FindOptions } from './code-flow-schema.ts';
import { readResource, toResource, type Fetch, type NamedResource } from './resource-metadata.ts';

const OFFLINE = 'offline_access';

/** @throws PorticoError `credential_unavailable` */
export async function discoverAuthorizer(
  serverUrl: string,
  fetch: Fetch,
  { challenge, issuer }: FindOptions,
): Promise<Authorizer> {
  const named = await readResource(new URL(serverUrl), fetch, challenge);
  const { resource, issuers, scope } = restrict(
    named ?? { resource: toResource(serverUrl), issuers: [], scope: challenge?.scope },
    issuer,
    named !== undefined,
  );
  const metadata = await findServer(issuers, fetch, isExactly, checkCodeFlow);
  const { issuer: found } = metadata;
  return { issuer: found, issuers, resource, metadata, scope: withOffline(scope, metadata) };
}

/** Restricts the issuers to the one that an administrator configured, if any; else keeps all that the server names. */
function restrict(
  named: NamedResource,
  issuer: string | undefined,
  isNamed: boolean,
): NamedResource {
  if (issuer === undefined) return named;
  if (isNamed && !named.issuers.includes(issuer)) {
    throw new OtherIssuer();
  }
  if (!URL.canParse(issuer)) throw new UnfitServer('The configured issuer is not a URL');
  return { ...named, issuers: [issuer] };
}

function checkCodeFlow(metadata: AuthorizationServer): AuthorizationServer {
  if (!metadata.authorization_endpoint || !metadata.token_endpoint) {
    throw new UnfitServer(
      'The authorization server names no valid authorization endpoint and token endpoint',
    );
  }
  // Without PKCE with S256 a stolen code may be usable; the specification requires to stop here.
  if (!metadata.code_challenge_methods_supported?.includes('S256')) {
    throw new UnfitServer('The authorization server does not say that it supports PKCE with S256');
  }
  return metadata;
}

/** Adds `offline_access` to a scope if the authorization server supports it, so that it may issue a refresh token. */
function withOffline(
  scope: string | undefined,
  { scopes_supported: supported }: AuthorizationServer,
): string | undefined {
  if (scope === undefined || !supported?.includes(OFFLINE)) return scope;
  return scope.split(' ').includes(OFFLINE) ? scope : `${scope} ${OFFLINE}`;
}
