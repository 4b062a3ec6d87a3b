/** Which endpoint a request is for: all servers, one, or a toolset. Pure. */
import type { Caller } from '../access/principal.ts';
import { viewOfToolset } from '../access/policy.ts';
import type { Toolset } from '../access/toolset.ts';
import { both, NOTHING, WHOLE } from '../access/view.ts';
import { PorticoError } from '../errors/portico-error.ts';
import type { Naming, Reach } from '../gateway/gateway.ts';
import type { NameStyle } from '../gateway/qualified-name.ts';
import { Renames } from '../gateway/renames.ts';
import type { Audience } from '../session/news.ts';

export interface Endpoint {
  /** Path without the query; a session is valid on its own only. */
  path: string;
  /** Name of the one server, or undefined for all. */
  serverName?: string;
  /** Name of the toolset, where it is one's endpoint. */
  toolsetName?: string;
  /** How the URL wants names written; absent where it does not say. */
  style?: NameStyle;
}

/** The part of the path that names one server or one toolset. */
export type EndpointPart = { serverName?: string; toolsetName?: string };

const STYLES: readonly string[] = ['dot', 'colon', 'underscore'];

/** @throws PorticoError `invalid_params` for a name style that does not exist */
export function parseEndpoint(
  path: string,
  names: string | null,
  part: EndpointPart = {},
): Endpoint {
  if (names !== null && !STYLES.includes(names)) {
    throw new PorticoError('invalid_params', 'names must be dot, colon or underscore');
  }
  return { path, ...part, ...(names === null ? {} : { style: names as NameStyle }) };
}

/** What the endpoint makes of the registry: the servers it reaches and how it names tools. */
export interface Scope {
  reach: Reach;
  naming: Naming;
}

/**
 * @param reach what the caller sees
 * @param defaultStyle how names are written where neither the URL nor a toolset says
 * @returns undefined where the endpoint's server or toolset does not exist for the caller
 */
export function scopeOf(
  { serverName, toolsetName, style }: Endpoint,
  caller: Caller,
  reach: Reach,
  defaultStyle: NameStyle,
): Scope | undefined {
  if (toolsetName !== undefined) {
    const toolset = caller.policy.toolset(toolsetName);
    return toolset && toolsetScope(toolset, reach, style ?? defaultStyle, style === undefined);
  }
  if (serverName === undefined) {
    return { reach, naming: { kind: 'qualified', style: style ?? defaultStyle } };
  }
  const server = reach.servers.find(candidate => candidate.name === serverName);
  if (!server) return undefined;
  return { reach: { ...reach, servers: [server] }, naming: { kind: 'own', serverId: server.id } };
}

function toolsetScope(toolset: Toolset, seen: Reach, style: NameStyle, mayChoose: boolean): Scope {
  const { reach, renames } = selectedOf(toolset, seen);
  const own = mayChoose ? toolset.definition.name_style : undefined;
  return { reach, naming: { kind: 'qualified', style: own ?? style, renames } };
}

interface Selected {
  reach: Reach;
  renames: Renames;
}

const made = new WeakMap<Toolset, WeakMap<Reach, Selected>>();

/** What a toolset leaves of what is seen, and under which names; made once for the requests on the same state. */
function selectedOf(toolset: Toolset, seen: Reach): Selected {
  let known = made.get(toolset);
  if (!known) made.set(toolset, (known = new WeakMap()));
  let selected = known.get(seen);
  if (!selected) known.set(seen, (selected = select(toolset, seen)));
  return selected;
}

function select(toolset: Toolset, seen: Reach): Selected {
  const views = new Map(
    seen.servers.map(server => {
      const view = viewOfToolset(toolset, server);
      return [server.id, both(seen.views?.get(server.id) ?? WHOLE, view)];
    }),
  );
  const servers = seen.servers.filter(({ id }) => views.get(id) !== NOTHING);
  return { reach: { servers, views }, renames: new Renames(toolset.definition.overrides, servers) };
}

/** Of which servers a caller may hear on an endpoint, also of those still to come; what it hears of each is looked at again. */
export function audienceOf({ policy }: Caller, { naming }: Scope): Audience {
  return naming.kind === 'own' ? [naming.serverId] : policy.servers;
}
