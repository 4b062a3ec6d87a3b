/**
 * Finds the server and the item of a reference among those that the caller sees. Hidden and unknown are the same: what the caller does not
 * see does not exist here.
 */
import type { Listing, Reference } from './listing.ts';
import type { Naming, Viewer, VisibleServers } from './viewer.ts';
import type { Catalog, CatalogItem, Kind } from '../servers/catalog/catalog.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import { standInTool } from './stand-in.ts';
import { ownerOf } from './naming/bare-uri.ts';
import { parseQualifiedName } from '../shared/naming/qualified-name.ts';
import { parseQualifiedUri } from '../shared/naming/qualified-uri.ts';

/** A resolved reference: the server, and the server's own name for the item. */
export interface Resolved {
  server: Server;
  name: string;
  /** The item in the catalog; a resource need not be listed. */
  item?: CatalogItem;
}

export interface ResolvePorts {
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  catalogsOf(visible: VisibleServers): Promise<Catalog[]>;
  list(viewer: Viewer, kind: Kind): Promise<Listing>;
}

type QualifiedNaming = Extract<Naming, { kind: 'qualified' }>;

const WORDS = { tool: 'Tool', prompt: 'Prompt', resource: 'Resource', task: 'Task' } as const;

/** @throws PorticoError `*_not_found`, `tool_name_unprefixed`, `server_disconnected` */
export async function resolve(
  viewer: Viewer,
  reference: Reference,
  ports: ResolvePorts,
): Promise<Resolved> {
  const { visible, naming } = viewer;
  if (reference.kind === 'task') {
    const server = visible.servers.find(({ id }) => id === reference.serverId);
    const isThere = server && isOffered(server.status);
    return found(isThere ? { server, name: reference.name } : undefined, server, reference);
  }
  if (naming.kind === 'own') {
    const server = visible.servers.find(({ id }) => id === naming.serverId);
    const resolved = await resolveOwn(visible, server, reference, ports);
    return found(resolved, mayShow(visible, server, reference), reference);
  }
  return reference.kind === 'resource'
    ? resolveUri(visible, reference, ports)
    : resolveName(viewer, naming, reference, ports);
}

/** Whether the caller sees what a server offers besides tools. */
const mayRead = ({ views }: VisibleServers, { id }: Server) => views?.get(id)?.rest ?? true;

/**
 * Returns the server if its state may be shown to a caller that asked for this item. A hidden item is unknown: who sees the server's other
 * items learns its state for every name, anybody else only for a tool that they may use.
 */
function mayShow(
  { views }: VisibleServers,
  server: Server | undefined,
  { kind, name }: Pick<Reference, 'kind' | 'name'>,
): Server | undefined {
  const view = server && views?.get(server.id);
  if (!view || view.rest) return server;
  return kind === 'tool' && view.tool(name, false) ? server : undefined;
}

async function resolveOwn(
  visible: VisibleServers,
  server: Server | undefined,
  reference: Reference,
  ports: ResolvePorts,
): Promise<Resolved | undefined> {
  if (!server || !isOffered(server.status)) return undefined;
  // A server may have resources that it does not list.
  if (reference.kind === 'resource') {
    return mayRead(visible, server) ? { server, name: reference.name } : undefined;
  }
  const item = await itemOf(visible, server, reference, reference.name, ports);
  return item && { server, name: item.key, item };
}

async function resolveName(
  viewer: Viewer,
  naming: QualifiedNaming,
  reference: Reference,
  ports: ResolvePorts,
): Promise<Resolved> {
  const { visible } = viewer;
  const renamed = await resolveRenamed(visible, naming, reference, ports);
  if (renamed) return renamed;
  const guesses = parseQualifiedName(reference.name);
  if (guesses.length === 0) {
    throw new PorticoError(
      'tool_name_unprefixed',
      `${WORDS[reference.kind]} name must be prefixed with server key: ${reference.name}`,
    );
  }
  let disconnected: Server | undefined;
  for (const guess of guesses) {
    const server = visible.servers.find(({ name }) => name === guess.server);
    const item = server && (await itemOf(visible, server, reference, guess.tool, ports));
    if (server && item) return { server, name: item.key, item };
    const { kind } = reference;
    const shown = mayShow(visible, server, { kind, name: guess.tool });
    if (shown && !isOffered(shown.status)) disconnected ??= shown;
  }
  return found(await resolveShortened(viewer, reference, ports), disconnected, reference);
}

/** Resolves a name that the endpoint gave to a tool. */
async function resolveRenamed(
  visible: VisibleServers,
  { renames }: QualifiedNaming,
  reference: Reference,
  ports: ResolvePorts,
): Promise<Resolved | undefined> {
  const origin = reference.kind === 'tool' ? renames?.origin(reference.name) : undefined;
  const server = origin && visible.servers.find(({ id }) => id === origin.serverId);
  if (!server) return undefined;
  const item = await itemOf(visible, server, reference, origin.tool, ports);
  if (item) return { server, name: item.key, item };
  // The name of a hidden item is treated like a name of nothing.
  const isSeen = visible.views?.get(server.id)?.tool(origin.tool, false) ?? true;
  return isSeen && !isOffered(server.status) ? found(undefined, server, reference) : undefined;
}

/** Resolves a name of the underscore style that was changed to fit. */
async function resolveShortened(
  viewer: Viewer,
  { kind, name }: Reference,
  ports: ResolvePorts,
): Promise<Resolved | undefined> {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return undefined;
  const naming = { kind: 'qualified', style: 'underscore' } as const;
  const listing = await ports.list({ ...viewer, naming }, kind === 'tool' ? 'tools' : 'prompts');
  const match = listing.items.find(candidate => candidate.name === name);
  const server = match && viewer.visible.servers.find(({ id }) => id === match.server.id);
  return server && { server, name: match.item.key, item: match.item };
}

/** Resolves a qualified URI by its server, any other by the only server that has it. */
async function resolveUri(
  visible: VisibleServers,
  reference: Reference,
  ports: ResolvePorts,
): Promise<Resolved> {
  const { name } = reference;
  const parsed = parseQualifiedUri(name);
  const wanted = parsed?.server.toLowerCase();
  const server = visible.servers.find(candidate => candidate.name.toLowerCase() === wanted);
  const readable = server && mayRead(visible, server) ? server : undefined;
  if (readable && parsed && isOffered(readable.status))
    return { server: readable, name: parsed.uri };
  const catalogs = await ports.catalogsOf(visible);
  const owner = ownerOf(name, visible.servers, catalogs);
  return found(owner && { server: owner, name }, readable, reference);
}

async function itemOf(
  visible: VisibleServers,
  server: Server,
  { kind }: Reference,
  name: string,
  ports: ResolvePorts,
): Promise<CatalogItem | undefined> {
  const catalog = await ports.catalogOf(server);
  if (kind !== 'tool') return catalog.prompts.byKey.get(name);
  const tool = catalog.tools.byKey.get(name);
  return tool ?? standInTool(server, name, catalog, mayRead(visible, server));
}

function found(
  resolved: Resolved | undefined,
  server: Server | undefined,
  { kind, name }: Reference,
): Resolved {
  if (resolved) return resolved;
  if (server && !isOffered(server.status)) {
    const { id, name: serverName, status } = server;
    const state = status.toLowerCase();
    throw new PorticoError('server_disconnected', `The server ${serverName} is ${state}`, {
      data: { server: { id, name: serverName, status } },
    });
  }
  throw notFound({ kind, name });
}

/** The error for an item that is unknown or hidden. */
export function notFound({ kind, name }: Pick<Reference, 'kind' | 'name'>): PorticoError {
  if (kind === 'task') return taskNotFound();
  return new PorticoError(`${kind}_not_found`, `${WORDS[kind]} not found: ${name}`);
}

/** The error for a task of somebody else or of nobody: it does not repeat the id. */
export const taskNotFound = () => new PorticoError('task_not_found');
