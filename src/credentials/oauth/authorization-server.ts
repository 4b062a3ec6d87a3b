/**
 * Finds the authorization server of an MCP server: its protected resource metadata (RFC 9728), where a challenge names it or
 * at the well-known places, then the authorization server's own (RFC 8414, OpenID Connect Discovery). Source: MCP 2026-07-28,
 * Authorization Server Discovery. Every address goes through the fetch that is given.
 *
 * Refuses metadata of another resource or issuer than was asked for.
 */
import * as oauth from 'oauth4webapi';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { MODERN_VERSION } from '../../shared/protocol.ts';
import type { TokenEndpoint } from './grant-schema.ts';

type Fetch = typeof globalThis.fetch;

const RESOURCE_METADATA = /\bresource_metadata="([^"\\]{1,2048})"/i;
const WELL_KNOWN_RESOURCE = '/.well-known/oauth-protected-resource';

interface Resource {
  resource: string;
  issuer: URL;
}

/** @throws PorticoError `credential_unavailable` */
export async function discoverServer(server: URL, fetch: Fetch): Promise<TokenEndpoint> {
  const { resource, issuer } = await findResource(server, fetch);
  const metadata = await findMetadata(issuer, fetch);
  const { token_endpoint: url } = metadata;
  if (url === undefined || !URL.canParse(url)) {
    throw unavailable('The authorization server names no token endpoint');
  }
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const method = methods.includes('client_secret_basic')
    ? 'basic'
    : methods.includes('client_secret_post')
      ? 'post'
      : undefined;
  if (!method) throw unavailable('The authorization server takes no client secret');
  return { url, origin: new URL(url).origin, method, resource };
}

async function findResource(server: URL, fetch: Fetch): Promise<Resource> {
  const path = server.pathname === '/' ? '' : server.pathname;
  const named = await challengeOf(server, fetch);
  const places = named
    ? [named]
    : [...new Set([path, ''])].map(end => `${server.origin}${WELL_KNOWN_RESOURCE}${end}`);
  for (const place of places) {
    const metadata = await readObject(place, fetch);
    if (!metadata) continue;
    const { resource, authorization_servers: servers } = metadata;
    const issuer: unknown = Array.isArray(servers) ? servers[0] : undefined;
    if (typeof resource !== 'string' || !isPartOf(server, resource)) {
      throw unavailable('The metadata of the server is of another resource');
    }
    if (typeof issuer === 'string' && URL.canParse(issuer)) {
      return { resource, issuer: new URL(issuer) };
    }
  }
  throw unavailable('The server names no authorization server; set token_url');
}

/** Where a server that is asked without a token says that its metadata is. */
async function challengeOf(server: URL, fetch: Fetch): Promise<string | undefined> {
  const response = await fetch(server.href, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN_VERSION,
      'mcp-method': 'server/discover',
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"server/discover"}',
  });
  if (response.status !== 401) return undefined;
  const named = RESOURCE_METADATA.exec(response.headers.get('www-authenticate') ?? '')?.[1];
  return named !== undefined && URL.canParse(named) ? named : undefined;
}

/** The resource is the server's address, or a part of it from the beginning. */
function isPartOf(server: URL, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, hash, search } = new URL(resource);
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`;
  const isInside = server.pathname === pathname || `${server.pathname}/`.startsWith(folder);
  return (
    origin === server.origin && isInside && hash === '' && ['', server.search].includes(search)
  );
}

async function findMetadata(issuer: URL, fetch: Fetch): Promise<oauth.AuthorizationServer> {
  const path = issuer.pathname.replace(/\/$/, '');
  const places = new Set([
    `${issuer.origin}/.well-known/oauth-authorization-server${path}`,
    `${issuer.origin}/.well-known/openid-configuration${path}`,
    `${issuer.origin}${path}/.well-known/openid-configuration`,
  ]);
  for (const place of places) {
    const response = await fetch(place, { headers: { accept: 'application/json' } });
    if (response.status !== 200) continue;
    return oauth.processDiscoveryResponse(issuer, response);
  }
  throw unavailable('The authorization server says nothing of itself; set token_url');
}

/** A JSON object at an address, or undefined where there is none. */
async function readObject(
  address: string,
  fetch: Fetch,
): Promise<Record<string, unknown> | undefined> {
  const response = await fetch(address, { headers: { accept: 'application/json' } });
  if (response.status !== 200) return undefined;
  const json: unknown = await response.json().catch(() => undefined);
  return typeof json === 'object' && json !== null && !Array.isArray(json)
    ? (json as Record<string, unknown>)
    : undefined;
}

const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
