/**
 * The core of the gateway: aggregates catalogs, resolves names, routes calls. Knows nothing of
 * HTTP, JSON-RPC or eras, asks no upstream for lists, and reaches only what its `reach` holds.
 */
import type { Catalog, CatalogTool } from '../catalog/catalog.ts';
import { PorticoError } from '../errors/portico-error.ts';
import { Lru } from '../lib/lru.ts';
import type { Server } from '../registry/server-schema.ts';
import type { CallContext, CallReply } from '../upstream/upstreams.ts';
import type { OutboundRequest } from '../upstream/wire-request.ts';
import type { Gateway, ListedTool, Naming, Reach, ToolReference } from './gateway.ts';
import { parseQualifiedName, toQualifiedName } from './qualified-name.ts';
import { ToolFailure } from './tool-failure.ts';

export interface CorePorts {
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  call(
    server: Server,
    request: OutboundRequest,
    name: string,
    context: CallContext,
  ): Promise<CallReply>;
}

interface Resolved {
  server: Server;
  tool: CatalogTool;
}

const MAX_LISTS = 32;

/** The gateway without decorators. */
export function createCore(ports: CorePorts): Gateway {
  const lists = new Lru<string, readonly ListedTool[]>(MAX_LISTS);

  async function list(reach: Reach, naming: Naming): Promise<readonly ListedTool[]> {
    const key = listKey(reach, naming);
    const known = lists.get(key);
    if (known) return known;
    const catalogs = await Promise.all(reach.servers.map(server => ports.catalogOf(server)));
    const listed = reach.servers.flatMap((server, i) =>
      (catalogs[i]?.tools ?? []).map(tool => ({
        name:
          naming.kind === 'own' ? tool.name : toQualifiedName(server.name, tool.name, naming.style),
        server,
        tool,
      })),
    );
    // A catalog nobody has any more stands in as empty and must not be remembered.
    const complete = reach.servers.every(
      ({ catalogHash, status }, i) =>
        status === 'DISCONNECTED' || (catalogHash ?? '') === catalogs[i]?.hash,
    );
    if (complete) lists.set(key, listed);
    return listed;
  }

  async function findIn(server: Server, name: string): Promise<Resolved | undefined> {
    const tool = (await ports.catalogOf(server)).byName.get(name);
    return tool && { server, tool };
  }

  async function resolve(reach: Reach, reference: ToolReference): Promise<Resolved> {
    const { name } = reference;
    const notFound = () => new PorticoError('tool_not_found', `Tool not found: ${name}`);
    if (reference.kind === 'own') {
      const server = reach.servers.find(candidate => candidate.id === reference.serverId);
      const found = server && (await findIn(server, name));
      if (!found) throw unavailable(server) ?? notFound();
      return found;
    }
    const guesses = parseQualifiedName(name);
    if (guesses.length === 0) {
      throw new PorticoError(
        'tool_name_unprefixed',
        `Tool name must be prefixed with server key: ${name}`,
      );
    }
    let refusal: PorticoError | undefined;
    for (const guess of guesses) {
      const server = reach.servers.find(candidate => candidate.name === guess.server);
      const found = server && (await findIn(server, guess.tool));
      if (found) return found;
      refusal ??= unavailable(server);
    }
    const shortened = await findShortened(reach, name);
    if (shortened) return shortened;
    throw refusal ?? notFound();
  }

  /** A name of the underscore style that was changed to fit. */
  async function findShortened(reach: Reach, name: string): Promise<Resolved | undefined> {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return undefined;
    const listed = await list(reach, { kind: 'qualified', style: 'underscore' });
    return listed.find(candidate => candidate.name === name);
  }

  return {
    listTools: (_caller, reach, naming) => list(reach, naming),

    async callTool(_caller, reach, call, context) {
      const { server, tool } = await resolve(reach, call.reference);
      const params = new Map(call.params).set('name', JSON.stringify(tool.name));
      try {
        const request = { method: 'tools/call', params };
        return { server, reply: await ports.call(server, request, tool.name, context) };
      } catch (error) {
        if (error instanceof PorticoError && error.entry.toolResult) {
          throw new ToolFailure(server, error);
        }
        throw error;
      }
    },
  };
}

/** Why a server within reach has no tools just now, where that is why a name is not found. */
function unavailable(server: Server | undefined): PorticoError | undefined {
  if (server?.status !== 'DISCONNECTED') return undefined;
  const { id, name, status } = server;
  return new PorticoError('server_disconnected', `The server ${name} is disconnected`, {
    data: { server: { id, name, status } },
  });
}

/** Equal for equal lists: the servers with their names and catalogs, and the naming. */
function listKey(reach: Reach, naming: Naming): string {
  const style = naming.kind === 'own' ? 'own' : naming.style;
  const servers = reach.servers.map(
    ({ id, name, catalogHash, status }) =>
      `${id} ${name} ${status === 'DISCONNECTED' ? '' : catalogHash}`,
  );
  return `${style}\n${servers.join('\n')}`;
}
