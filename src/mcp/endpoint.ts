/** Finds which servers an endpoint serves: all, one, or those of a toolset. Pure. */
import type { CallerView, Viewer, VisibleServers } from '../gateway/viewer.ts';
import { ToolsShownSchema, type Toolset, type ToolsShown } from '../access/policy/toolset.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { NameStyle } from '../shared/naming/qualified-name.ts';
import { Renames } from '../gateway/naming/renames.ts';
import { withinToolset } from '../gateway/toolset-scope.ts';
import type { Audience } from '../shared/events.ts';

export interface Endpoint {
  /** Origin of the gateway as the client addresses it. */
  origin: string;
  /** Path without the query. A session is valid only on the path that it was opened on. */
  path: string;
  /** Name of the one server, or undefined for all. */
  serverName?: string;
  toolsetName?: string;
  /** Name style that the URL asks for; absent where the URL names none. */
  style?: NameStyle;
  /** Which tools the URL wants listed; absent where the URL does not say. */
  tools?: ToolsShown;
}

/** The part of the path that names one server or one toolset. */
export type EndpointPart = { serverName?: string; toolsetName?: string };

const STYLES: readonly string[] = ['dot', 'colon', 'underscore'];
const TOOLS: readonly string[] = ToolsShownSchema.options;

/**
 * Parses the endpoint from a URL's path, with the choices in its query.
 * @throws PorticoError `invalid_params` for an unknown name style or choice of tools
 */
export function parseEndpoint(
  { origin, pathname, searchParams }: URL,
  part: EndpointPart = {},
): Endpoint {
  const names = searchParams.get('names');
  const tools = searchParams.get('tools');
  if (names !== null && !STYLES.includes(names)) {
    throw new PorticoError('invalid_params', 'names must be dot, colon or underscore');
  }
  if (tools !== null && !TOOLS.includes(tools)) {
    throw new PorticoError('invalid_params', `tools must be one of ${TOOLS.join(', ')}`);
  }
  return {
    origin,
    path: pathname,
    ...part,
    ...(names === null ? {} : { style: names as NameStyle }),
    ...(tools === null ? {} : { tools: tools as ToolsShown }),
  };
}

/** A caller at an endpoint: which servers the endpoint reaches, how it names tools and which tools it lists. */
export interface EndpointViewer extends Viewer {
  tools: ToolsShown;
  toolset?: string;
}

/** Defaults for endpoints where neither the URL nor a toolset chooses. */
export interface EndpointDefaults {
  nameStyle: NameStyle;
  tools: ToolsShown;
}

/**
 * Returns the viewer of an endpoint.
 * @param view what the caller sees of all servers
 * @returns undefined where the endpoint's server or toolset does not exist for the caller
 */
export function viewerOf(
  endpoint: Endpoint,
  view: CallerView,
  defaults: EndpointDefaults,
): EndpointViewer | undefined {
  const { caller, visible } = view;
  const { serverName, toolsetName } = endpoint;
  const { style = defaults.nameStyle, tools = defaults.tools } = endpoint;
  if (toolsetName !== undefined) {
    const toolset = caller.policy.toolset(toolsetName);
    return toolset && viewerOfToolset(toolset, view, endpoint, defaults);
  }
  if (serverName === undefined) return { ...view, naming: { kind: 'qualified', style }, tools };
  const server = visible.servers.find(candidate => candidate.name === serverName);
  if (!server) return undefined;
  const naming = { kind: 'own', serverId: server.id } as const;
  return { caller, visible: { ...visible, servers: [server] }, naming, tools };
}

function viewerOfToolset(
  toolset: Toolset,
  view: CallerView,
  endpoint: Endpoint,
  defaults: EndpointDefaults,
): EndpointViewer {
  const { visible, renames } = selectedOf(toolset, view.visible);
  const { name_style: ownStyle, tools: ownTools } = toolset.definition;
  const style = endpoint.style ?? ownStyle ?? defaults.nameStyle;
  const tools = endpoint.tools ?? ownTools ?? defaults.tools;
  const naming = { kind: 'qualified', style, renames } as const;
  return { caller: view.caller, visible, naming, tools, toolset: toolset.name };
}

interface Selected {
  visible: VisibleServers;
  renames: Renames;
}

const made = new WeakMap<Toolset, WeakMap<VisibleServers, Selected>>();

/**
 * Returns the servers and tools that a toolset selects from what is visible, with the toolset's names; computed once for all requests on
 * the same state.
 */
function selectedOf(toolset: Toolset, seen: VisibleServers): Selected {
  let known = made.get(toolset);
  if (!known) made.set(toolset, (known = new WeakMap()));
  let selected = known.get(seen);
  if (!selected) known.set(seen, (selected = select(toolset, seen)));
  return selected;
}

function select(toolset: Toolset, seen: VisibleServers): Selected {
  const visible = withinToolset(toolset, seen);
  return { visible, renames: new Renames(toolset.definition.overrides, visible.servers) };
}

/**
 * Returns the servers whose events a stream on this endpoint may carry, including servers to come; each event is checked again when it
 * occurs.
 */
export function audienceOf({ caller, naming }: Viewer): Audience {
  return naming.kind === 'own' ? [naming.serverId] : caller.policy.servers;
}
