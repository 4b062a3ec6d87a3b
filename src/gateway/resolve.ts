/**
 * Finds the server and the item a reference means, within reach. Hidden and unknown are the same:
 * what is not within reach does not exist here.
 */
import type { Catalog, CatalogItem, Kind } from '../catalog/catalog.ts';
import { PorticoError } from '../errors/portico-error.ts';
import type { Server } from '../registry/server-schema.ts';
import type { Listing, Naming, Reach, Reference } from './gateway.ts';
import { parseQualifiedName } from './qualified-name.ts';
import { parseQualifiedUri } from './qualified-uri.ts';

/** A reference resolved: the server, and the name it knows the item by. */
export interface Resolved {
  server: Server;
  name: string;
  /** The item as the catalog has it; a resource need not be listed. */
  item?: CatalogItem;
}

export interface ResolvePorts {
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  list(reach: Reach, naming: Naming, kind: Kind): Promise<Listing>;
}

const WORDS = { tool: 'Tool', prompt: 'Prompt', resource: 'Resource' } as const;

/** @throws PorticoError `*_not_found`, `tool_name_unprefixed`, `server_disconnected` */
export async function resolve(
  reach: Reach,
  naming: Naming,
  reference: Reference,
  ports: ResolvePorts,
): Promise<Resolved> {
  if (naming.kind === 'own') {
    const server = reach.servers.find(({ id }) => id === naming.serverId);
    return found(await resolveOwn(server, reference, ports), server, reference);
  }
  return reference.kind === 'resource'
    ? resolveUri(reach, reference, ports)
    : resolveName(reach, reference, ports);
}

async function resolveOwn(
  server: Server | undefined,
  reference: Reference,
  ports: ResolvePorts,
): Promise<Resolved | undefined> {
  if (!server || server.status === 'DISCONNECTED') return undefined;
  // A server may have resources that it does not list.
  if (reference.kind === 'resource') return { server, name: reference.name };
  const item = await itemOf(server, reference, reference.name, ports);
  return item && { server, name: item.key, item };
}

async function resolveName(
  reach: Reach,
  reference: Reference,
  ports: ResolvePorts,
): Promise<Resolved> {
  const guesses = parseQualifiedName(reference.name);
  if (guesses.length === 0) {
    throw new PorticoError(
      'tool_name_unprefixed',
      `${WORDS[reference.kind]} name must be prefixed with server key: ${reference.name}`,
    );
  }
  let disconnected: Server | undefined;
  for (const guess of guesses) {
    const server = reach.servers.find(({ name }) => name === guess.server);
    const item = server && (await itemOf(server, reference, guess.tool, ports));
    if (server && item) return { server, name: item.key, item };
    if (server?.status === 'DISCONNECTED') disconnected ??= server;
  }
  return found(await resolveShortened(reach, reference, ports), disconnected, reference);
}

/** A name of the underscore style that was changed to fit. */
async function resolveShortened(
  reach: Reach,
  { kind, name }: Reference,
  ports: ResolvePorts,
): Promise<Resolved | undefined> {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return undefined;
  const style = { kind: 'qualified', style: 'underscore' } as const;
  const listing = await ports.list(reach, style, kind === 'tool' ? 'tools' : 'prompts');
  const match = listing.items.find(candidate => candidate.name === name);
  return match && { server: match.server, name: match.item.key, item: match.item };
}

/**
 * A qualified URI by its server; a server's own URI, as its results carry them, by the first
 * catalog that lists it.
 */
async function resolveUri(
  reach: Reach,
  reference: Reference,
  ports: ResolvePorts,
): Promise<Resolved> {
  const parsed = parseQualifiedUri(reference.name);
  const wanted = parsed?.server.toLowerCase();
  const server = reach.servers.find(({ name }) => name.toLowerCase() === wanted);
  if (server && parsed && server.status !== 'DISCONNECTED') return { server, name: parsed.uri };
  for (const candidate of reach.servers) {
    const catalog = await ports.catalogOf(candidate);
    if (catalog.resources.byKey.has(reference.name)) {
      return { server: candidate, name: reference.name };
    }
  }
  return found(undefined, server, reference);
}

async function itemOf(
  server: Server,
  { kind }: Reference,
  name: string,
  ports: ResolvePorts,
): Promise<CatalogItem | undefined> {
  const catalog = await ports.catalogOf(server);
  return catalog[kind === 'tool' ? 'tools' : 'prompts'].byKey.get(name);
}

function found(
  resolved: Resolved | undefined,
  server: Server | undefined,
  { kind, name }: Reference,
): Resolved {
  if (resolved) return resolved;
  if (server?.status === 'DISCONNECTED') {
    const { id, name: serverName, status } = server;
    throw new PorticoError('server_disconnected', `The server ${serverName} is disconnected`, {
      data: { server: { id, name: serverName, status } },
    });
  }
  throw new PorticoError(`${kind}_not_found`, `${WORDS[kind]} not found: ${name}`);
}
