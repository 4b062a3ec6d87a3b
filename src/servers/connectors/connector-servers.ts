/**
 * Servers behind connectors: those that an administrator registers, and those that a connector offers itself. Each registration is an
 * administrative act of its own.
 */
import { findRecord } from '../../records/record-store.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { hasLimits, hasScope, type Actor } from '../../shared/identity/principal.ts';
import { yieldToRequests } from '../../shared/util/yield-to-requests.ts';
import type { CreateStdioServer, Server } from '../registry/server-schema.ts';
import type { ServerService } from '../registry/server-service.ts';
import type { OfferedServer, Registered, StoredConnector } from './connector-schema.ts';
import { CONNECTORS, listConnectorServers, whenFewer } from './connector-store.ts';

export interface ConnectorServersPorts {
  db: D1Database;
  servers: ServerService;
  /** Maximum number of servers that one connector may register (`PORTICO_CONNECTOR_SERVERS`). */
  maxServers: number;
}

export interface ConnectorServers {
  /** Registers a program that a connector runs. @throws PorticoError `forbidden`, `validation_failed`, `conflict` */
  createServer(caller: Actor, input: CreateStdioServer): Promise<Server>;
  /** Registers the servers that a connector offers, under their names on its machine. Registered servers stay as they are. */
  register(connector: StoredConnector, offers: readonly OfferedServer[]): Promise<Registered[]>;
}

export function createConnectorServers(ports: ConnectorServersPorts): ConnectorServers {
  const { db, servers, maxServers } = ports;
  return {
    async createServer(caller, { connection_config: { connector: key, server }, ...input }) {
      // A caller without the right to register servers must not learn which connectors exist; the registration refuses the call.
      const mayCreate = hasScope(caller, 'servers:write') && !hasLimits(caller);
      const connector = mayCreate ? await findRecord(db, CONNECTORS, key) : { id: key };
      if (!connector) {
        throw fieldProblem('connection_config.connector', 'there is no such connector');
      }
      return servers.createOnConnector(caller, { connectorId: connector.id, server }, input);
    },

    async register({ id: connectorId }, offers) {
      const known = await findRegistered(db, connectorId);
      const registered: Registered[] = [];
      let free = maxServers - known.size;
      // One after the other, since each is an act of its own.
      for (const offer of offers) {
        const found = known.get(offer.name);
        if (found || free <= 0) {
          registered.push(found ?? refused(offer, maxServers));
          continue;
        }
        free -= 1;
        registered.push(await registerOne(ports, connectorId, offer));
        await yieldToRequests();
      }
      return registered;
    },
  };
}

function refused({ name }: OfferedServer, maxServers: number): Registered {
  const bound = `A connector may have ${maxServers} servers (PORTICO_CONNECTOR_SERVERS)`;
  const problem = `${bound}; raise it, or delete servers that it no longer offers`;
  return { name, id: null, registered_as: null, problem };
}

async function registerOne(
  { db, servers, maxServers }: ConnectorServersPorts,
  connectorId: string,
  offer: OfferedServer,
): Promise<Registered> {
  const { name, description = '' } = offer;
  const actor: Actor = {
    principalId: `connector:${connectorId}`,
    tokenId: connectorId,
    scopes: new Set(['servers:write']),
  };
  try {
    const input = { name, description, auto_connect: true, accounts: 'shared' } as const;
    const place = { connectorId, server: name };
    const hasRoom = whenFewer(connectorId, maxServers);
    const server = await servers.createOnConnector(actor, place, input, hasRoom);
    return { name, id: server.id, registered_as: server.name, problem: null };
  } catch (thrown) {
    if (!(thrown instanceof PorticoError) || thrown.code !== 'conflict') throw thrown;
    // The same connector may have offered it, or others, in a parallel request.
    const known = await findRegistered(db, connectorId);
    const meanwhile = known.get(name);
    if (meanwhile || known.size < maxServers) {
      return meanwhile ?? { name, id: null, registered_as: null, problem: thrown.message };
    }
    return refused(offer, maxServers);
  }
}

/** Finds the registered servers of a connector, by their names on its machine. */
async function findRegistered(
  db: D1Database,
  connectorId: string,
): Promise<Map<string, Registered>> {
  const servers = await listConnectorServers(db, connectorId);
  return new Map(
    servers.map(({ id, name, server }) => [
      server,
      { name: server, id, registered_as: name, problem: null },
    ]),
  );
}
