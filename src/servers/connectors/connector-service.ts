/**
 * Connectors: enrol, read, revoke; and what a connector does itself with its device token: register the servers it offers.
 * Each verb that writes is one act with its audit row.
 */
import { hasLimits, hasScope, requireScope, type Actor } from '../../shared/identity/principal.ts';
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ListPage } from '../../shared/util/page.ts';
import { yieldToRequests } from '../../shared/util/yield-to-requests.ts';
import type { CreateStdioServer, Server } from '../registry/server-schema.ts';
import type { ServerService } from '../registry/server-service.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import {
  createDeviceToken,
  type OfferedServer,
  type Registered,
  type StoredConnector,
} from './connector-schema.ts';
import {
  deleteConnector,
  findConnector,
  findConnectorByHmac,
  insertConnector,
  listConnectors,
  listConnectorServers,
  moveConnector,
  rotateConnector,
  whenConnector,
  whenConnectorPossible,
} from './connector-store.ts';

export interface ConnectorPorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  servers: ServerService;
  /** Most servers that one connector may have registered (`PORTICO_CONNECTOR_SERVERS`). */
  maxServers: number;
  /** The objects that hold the connections of machines. */
  lines: {
    /** A revocation comes now: look for it in a while, even if `revoke` never comes. */
    expectRevocation(connectorId: string): Promise<unknown>;
    /** End the connection of a connector's machine. */
    revoke(connectorId: string): Promise<unknown>;
  };
}

/** A new connector with its device token, which is shown once. */
export interface Enrolled {
  connector: StoredConnector;
  token: string;
}

export class ConnectorService {
  readonly #ports: ConnectorPorts;

  constructor(ports: ConnectorPorts) {
    this.#ports = ports;
  }

  /** @throws PorticoError `forbidden`, `conflict` */
  create(caller: Actor, name: string): Promise<Enrolled> {
    const { db, keys, adminAudit } = this.#ports;
    // Its object has this name, and its servers' addresses begin with it.
    const id = crypto.randomUUID();
    const act = { action: 'connector.create', subject: id };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const token = createDeviceToken();
      const [hmac = ''] = await keys.hmacs('device', token);
      const connector = {
        id,
        name,
        isConnected: false,
        createdAt: Date.now(),
        lastSeenAt: null,
        rotatedAt: 0,
      };
      const isDone = await commit({
        when: whenConnectorPossible(name),
        statements: [insertConnector(db, connector, hmac, keys.active)],
        detail: { name },
      });
      if (!isDone) {
        throw new PorticoError(
          'conflict',
          `A connector named ${name} exists already, or there is no room`,
        );
      }
      return { connector, token };
    });
  }

  /** @throws PorticoError `forbidden` */
  async list(
    caller: Actor,
    limit: number,
    afterName?: string,
  ): Promise<ListPage<StoredConnector> & { total: number }> {
    requireScope(caller, 'servers:read');
    return listConnectors(this.#ports.db, limit, afterName);
  }

  /**
   * @param key its id or its name
   * @throws PorticoError `forbidden`, `not_found`
   */
  async get(caller: Actor, key: string): Promise<StoredConnector> {
    requireScope(caller, 'servers:read');
    return this.#find(key);
  }

  /**
   * Give a connector another device token, for a machine that lost its own or a new one in its place. Its servers stay; whoever
   * came with the token before is sent away.
   * @throws PorticoError `forbidden`, `not_found`
   */
  rotate(caller: Actor, key: string): Promise<Enrolled> {
    const { db, keys, adminAudit, lines } = this.#ports;
    const act = { action: 'connector.rotate', subject: key };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const connector = await this.#find(key);
      const { id, name } = connector;
      const token = createDeviceToken();
      const [hmac = ''] = await keys.hmacs('device', token);
      // Two within a millisecond are two all the same.
      const now = Math.max(Date.now(), connector.rotatedAt + 1);
      await lines.expectRevocation(id);
      const change = {
        when: whenConnector(id),
        statements: [rotateConnector(db, id, { hmac, keyId: keys.active, now })],
        detail: { name },
      };
      if (!(await commit(change))) throw noConnector();
      await lines.revoke(id);
      return { connector: { ...connector, rotatedAt: now }, token };
    });
  }

  /** Revoke a connector: its machine is sent away. Its servers stay registered and cannot be reached. */
  delete(caller: Actor, key: string): Promise<void> {
    const { db, adminAudit, lines } = this.#ports;
    const act = { action: 'connector.delete', subject: key };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const { id, name } = await this.#find(key);
      await lines.expectRevocation(id);
      const change = {
        when: whenConnector(id),
        statements: [deleteConnector(db, id)],
        detail: { name },
      };
      if (!(await commit(change))) throw noConnector();
      await lines.revoke(id);
    });
  }

  /** Register a program that a connector has. @throws PorticoError `forbidden`, `validation_failed`, `conflict` */
  async createServer(
    caller: Actor,
    { connection_config: { connector: key, server }, ...input }: CreateStdioServer,
  ): Promise<Server> {
    // Who may not register servers does not learn which connectors there are; the registration refuses it.
    const mayCreate = hasScope(caller, 'servers:write') && !hasLimits(caller);
    const connector = mayCreate ? await findConnector(this.#ports.db, key) : { id: key };
    if (!connector) throw fieldProblem('connection_config.connector', 'there is no such connector');
    const place = { connectorId: connector.id, server };
    return this.#ports.servers.createOnConnector(caller, place, input);
  }

  /** Whose device token this is; undefined where it is nobody's. */
  async authenticate(token: string | undefined): Promise<StoredConnector | undefined> {
    if (token === undefined) return undefined;
    const { db, keys } = this.#ports;
    const hmacs = await keys.hmacs('device', token);
    const connector = await findConnectorByHmac(db, hmacs);
    if (connector && connector.keyId !== keys.active) {
      await moveConnector(db, connector.id, hmacs[0] ?? '', keys.active);
    }
    return connector;
  }

  /** Register what a connector offers, under the names it has there. What is registered already stays as it is. */
  async register(
    connector: StoredConnector,
    offers: readonly OfferedServer[],
  ): Promise<Registered[]> {
    const known = await this.#registered(connector);
    const registered: Registered[] = [];
    let free = this.#ports.maxServers - known.size;
    // One after the other: each is an act of its own.
    for (const offer of offers) {
      const found = known.get(offer.name);
      if (found || free <= 0) {
        registered.push(found ?? this.#refused(offer));
        continue;
      }
      free -= 1;
      registered.push(await this.#registerOne(connector, offer));
      await yieldToRequests();
    }
    return registered;
  }

  #refused({ name }: OfferedServer): Registered {
    const bound = `A connector may have ${this.#ports.maxServers} servers (PORTICO_CONNECTOR_SERVERS)`;
    const problem = `${bound}; raise it, or delete those that it offers no more`;
    return { name, id: null, registered_as: null, problem };
  }

  async #registerOne(connector: StoredConnector, offer: OfferedServer): Promise<Registered> {
    const { id: connectorId } = connector;
    const { name, description = '' } = offer;
    const actor: Actor = {
      principalId: `connector:${connectorId}`,
      tokenId: connectorId,
      scopes: new Set(['servers:write']),
    };
    try {
      const input = { name, description, auto_connect: true };
      const place = { connectorId, server: name };
      const server = await this.#ports.servers.createOnConnector(actor, place, input);
      return { name, id: server.id, registered_as: server.name, problem: null };
    } catch (thrown) {
      if (!(thrown instanceof PorticoError) || thrown.code !== 'conflict') throw thrown;
      // The same connector may have offered it at the same time.
      const meanwhile = (await this.#registered(connector)).get(name);
      return meanwhile ?? { name, id: null, registered_as: null, problem: thrown.message };
    }
  }

  /** What of a connector is registered, by the names on its machine. */
  async #registered({ id: connectorId }: StoredConnector): Promise<Map<string, Registered>> {
    const servers = await listConnectorServers(this.#ports.db, connectorId);
    return new Map(
      servers.map(({ id, name, server }) => [
        server,
        { name: server, id, registered_as: name, problem: null },
      ]),
    );
  }

  async #find(key: string): Promise<StoredConnector> {
    const connector = await findConnector(this.#ports.db, key);
    if (!connector) throw noConnector();
    return connector;
  }
}

const noConnector = () => new PorticoError('not_found', 'No such connector');
