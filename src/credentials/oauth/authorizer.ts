/**
 * Who lets people into a server, and what to ask for there. Source: MCP 2026-07-28, Authorization Server Discovery, Scope Selection
 * Strategy, Authorization Code Protection. Why: docs/decisions/0053-discovery.md.
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
  return { issuer: metadata.issuer, resource, metadata, scope: withOffline(scope, metadata) };
}

/** The issuers that may be gone to: all that the server names, or the one that an administrator set up. */
function restrict(
  named: NamedResource,
  issuer: string | undefined,
  isNamed: boolean,
): NamedResource {
  if (issuer === undefined) return named;
  if (isNamed && !named.issuers.includes(issuer)) {
    throw new OtherIssuer();
  }
  if (!URL.canParse(issuer)) throw new UnfitServer('The issuer that was set up is no address');
  return { ...named, issuers: [issuer] };
}

function checkCodeFlow(metadata: AuthorizationServer): AuthorizationServer {
  if (!metadata.authorization_endpoint || !metadata.token_endpoint) {
    throw new UnfitServer('The authorization server names no place to sign in');
  }
  // Without it there is no telling that a code is worth nothing to others: the specification says to stop here.
  if (!metadata.code_challenge_methods_supported?.includes('S256')) {
    throw new UnfitServer('The authorization server does not say that it supports PKCE with S256');
  }
  return metadata;
}

/** What to ask for, so that a refresh token may come as well where one has to be asked for. */
function withOffline(
  scope: string | undefined,
  { scopes_supported: supported }: AuthorizationServer,
): string | undefined {
  if (scope === undefined || !supported?.includes(OFFLINE)) return scope;
  return scope.split(' ').includes(OFFLINE) ? scope : `${scope} ${OFFLINE}`;
}
