/**
 * Reads the protected resource metadata (RFC 9728) of an MCP server, which names its authorization servers: at the URL in a challenge, else
 * at the well-known places in the order of MCP 2026-07-28, Authorization Server Discovery. Refuses metadata of another resource.
 */
import { AnswerRefused } from '../../http/guarded-fetch.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { MODERN_VERSION } from '../../shared/protocol.ts';
import { readChallenge, toScope, type Challenge } from './challenge.ts';

export type Fetch = typeof globalThis.fetch;

/** A server as a resource. */
export interface NamedResource {
  /** Exactly as the server writes it. */
  resource: string;
  /** At least one, in the server's order, exactly as the server writes them. */
  issuers: string[];
  /** That of the challenge, else of the metadata; undefined if neither names one. */
  scope: string | undefined;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
/** Maximum number of authorization servers that are tried. */
const MAX_ISSUERS = 4;

/**
 * @param given from the response that led here; without it the server is probed
 * @returns undefined if the server has no such metadata
 * @throws PorticoError `credential_unavailable`
 */
export async function readResource(
  server: URL,
  fetch: Fetch,
  given?: Challenge,
): Promise<NamedResource | undefined> {
  const challenge = given ?? (await challengeOf(server, fetch));
  const { resourceMetadata: named } = challenge;
  const path = server.pathname === '/' ? '' : server.pathname;
  const places =
    named !== undefined && URL.canParse(named)
      ? [named]
      : [...new Set([path, ''])].map(end => `${server.origin}${WELL_KNOWN}${end}`);
  for (const place of places) {
    const {
      resource,
      authorization_servers: servers,
      scopes_supported: scopes,
    } = (await readObject(place, fetch))?.json ?? {};
    if (resource === undefined && servers === undefined) continue;
    if (typeof resource !== 'string' || !isPartOf(server, resource)) {
      throw unavailable('The metadata of the server names another resource');
    }
    const issuers = (Array.isArray(servers) ? servers : [])
      .filter((each): each is string => typeof each === 'string' && URL.canParse(each))
      .slice(0, MAX_ISSUERS);
    if (issuers.length === 0) continue;
    const scope = challenge.scope ?? toScope(Array.isArray(scopes) ? scopes : undefined);
    return { resource, issuers, scope };
  }
  return undefined;
}

/** Probes the server without a token and reads its challenge. */
async function challengeOf(server: URL, fetch: Fetch): Promise<Challenge> {
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
  return response.status === 401 ? readChallenge(response.headers.get('www-authenticate')) : {};
}

/** Whether the resource is the server's URL, or a leading part of it. */
function isPartOf(server: URL, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, hash, search } = new URL(resource);
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`;
  const isInside = server.pathname === pathname || `${server.pathname}/`.startsWith(folder);
  return (
    origin === server.origin && isInside && hash === '' && ['', server.search].includes(search)
  );
}

/** A server's URL as a resource indicator (RFC 8707): without a fragment, and without a slash for an empty path. */
export function toResource(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.hash = '';
  return url.pathname === '/' && url.search === '' ? url.origin : url.href;
}

/**
 * Fetches a URL and returns its status, and the JSON object if the body is one. A redirect is not followed and counts as nothing, since
 * many sites redirect requests for missing pages.
 */
export async function readObject(
  address: string,
  fetch: Fetch,
): Promise<{ status: number; json?: Record<string, unknown> } | undefined> {
  const response = await fetch(address, { headers: { accept: 'application/json' } }).catch(
    (error: unknown) => {
      if (error instanceof AnswerRefused && error.reason === 'redirect') return undefined;
      throw error;
    },
  );
  if (!response) return undefined;
  const { status } = response;
  const json: unknown = status === 200 ? await response.json().catch(() => undefined) : undefined;
  return typeof json === 'object' && json !== null && !Array.isArray(json)
    ? { status, json: json as Record<string, unknown> }
    : { status };
}

const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
