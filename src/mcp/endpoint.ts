/** Which endpoint a request is for: all servers, or one. Pure. */
import type { Caller } from '../access/principal.ts';
import { PorticoError } from '../errors/portico-error.ts';
import type { Naming, Reach } from '../gateway/gateway.ts';
import type { NameStyle } from '../gateway/qualified-name.ts';
import type { Audience } from '../session/news.ts';

export interface Endpoint {
  /** Path without the query; a session is valid on its own only. */
  path: string;
  /** Name of the one server, or undefined for all. */
  serverName?: string;
  style: NameStyle;
}

const STYLES: readonly string[] = ['dot', 'colon', 'underscore'];

/** @throws PorticoError `invalid_params` for a name style that does not exist */
export function parseEndpoint(path: string, names: string | null, serverName?: string): Endpoint {
  if (names !== null && !STYLES.includes(names)) {
    throw new PorticoError('invalid_params', 'names must be dot, colon or underscore');
  }
  const style = (names ?? 'dot') as NameStyle;
  return { path, style, ...(serverName === undefined ? {} : { serverName }) };
}

/** What the endpoint makes of the registry: the servers it reaches and how it names tools. */
export interface Scope {
  reach: Reach;
  naming: Naming;
}

/** @returns undefined where the endpoint's server does not exist */
export function scopeOf(endpoint: Endpoint, reach: Reach): Scope | undefined {
  if (endpoint.serverName === undefined) {
    return { reach, naming: { kind: 'qualified', style: endpoint.style } };
  }
  const server = reach.servers.find(candidate => candidate.name === endpoint.serverName);
  return server && { reach: { servers: [server] }, naming: { kind: 'own', serverId: server.id } };
}

/** Of which servers a caller may hear on an endpoint, also of those still to come. */
export function audienceOf(caller: Caller, { naming }: Scope): Audience {
  if (naming.kind === 'own') return [naming.serverId];
  return caller.servers === undefined ? null : [...caller.servers];
}
