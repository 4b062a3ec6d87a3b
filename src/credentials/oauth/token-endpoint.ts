/** Finds the token endpoint for client credentials in the metadata of a server and its authorization server. */
import type { AuthorizationServer } from 'oauth4webapi';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { findServer, isSameAddress, UnfitServer } from './authorization-server.ts';
import type { TokenEndpoint } from './grant-schema.ts';
import { readResource, type Fetch } from './resource-metadata.ts';

/** @throws PorticoError `credential_unavailable` */
export async function discoverTokenEndpoint(server: URL, fetch: Fetch): Promise<TokenEndpoint> {
  const named = await readResource(server, fetch);
  if (!named) {
    throw new PorticoError(
      'credential_unavailable',
      'The server names no authorization server; set token_url',
    );
  }
  const endpoint = await findServer(named.issuers, fetch, isSameAddress, toEndpoint);
  return { ...endpoint, resource: named.resource };
}

function toEndpoint(metadata: AuthorizationServer): Omit<TokenEndpoint, 'resource'> {
  const { token_endpoint: url, token_endpoint_auth_methods_supported: methods } = metadata;
  if (url === undefined) throw new UnfitServer('The authorization server names no token endpoint');
  // The default if the metadata lists no methods (RFC 8414 §2).
  const takes = methods ?? ['client_secret_basic'];
  const method = takes.includes('client_secret_basic')
    ? 'basic'
    : takes.includes('client_secret_post')
      ? 'post'
      : undefined;
  if (!method) throw new UnfitServer('The authorization server does not accept client secrets');
  return { url, origin: new URL(url).origin, method };
}
