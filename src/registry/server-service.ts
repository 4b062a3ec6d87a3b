/**
 * Servers: register, read, delete. Each verb checks the scope, parses, writes, and tells the
 * server's monitor. The name is unique without regard to case.
 */
import { requireScope, type Caller } from '../access/principal.ts';
import { PorticoError } from '../errors/portico-error.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { decideAddress } from '../upstream/guard.ts';
import { sealHeaders } from '../secrets/sealed-headers.ts';
import type { CreateServer, Server } from './server-schema.ts';
import {
  deleteServer,
  findServer,
  insertServer,
  parseServers,
  selectServers,
} from './server-store.ts';

export interface ServerPorts {
  db: D1Database;
  keys: KeyRing;
  localMode: boolean;
  /** The registry this isolate remembers may be older than what was just written or shown. */
  onFresh(): void;
  startMonitor(serverId: string): Promise<void>;
  stopMonitor(serverId: string): Promise<void>;
}

export class ServerService {
  readonly #ports: ServerPorts;

  constructor(ports: ServerPorts) {
    this.#ports = ports;
  }

  /** @throws PorticoError `forbidden`, `validation_failed`, `conflict` */
  async create(caller: Caller, input: CreateServer): Promise<Server> {
    requireScope(caller, 'servers:write');
    const { db, keys } = this.#ports;
    this.#checkAddress('connection_config.url', input.connection_config.url);
    if (input.health_check_url !== undefined) {
      this.#checkAddress('health_check_url', input.health_check_url);
    }
    const id = crypto.randomUUID();
    const now = Date.now();
    const { url, headers } = input.connection_config;
    const server: Server = {
      id,
      name: input.name,
      description: input.description,
      transportType: input.transport_type,
      url,
      headersSealed: headers ? await sealHeaders(keys, id, url, headers) : null,
      healthCheckUrl: input.health_check_url ?? null,
      autoConnect: input.auto_connect,
      status: input.auto_connect ? 'CONNECTING' : 'DISCONNECTED',
      lastError: null,
      verdict: null,
      catalogHash: null,
      toolCount: 0,
      registeredAt: now,
      updatedAt: now,
    };
    const { meta } = await insertServer(db, server).run();
    if (meta.changes === 0) {
      throw new PorticoError('conflict', `A server named ${input.name} exists already`);
    }
    this.#ports.onFresh();
    if (input.auto_connect) await this.#ports.startMonitor(id);
    return server;
  }

  async list(caller: Caller): Promise<Server[]> {
    requireScope(caller, 'servers:read');
    const { results } = await selectServers(this.#ports.db).all();
    this.#ports.onFresh();
    return parseServers(results);
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Caller, id: string): Promise<Server> {
    requireScope(caller, 'servers:read');
    const server = await findServer(this.#ports.db, id);
    if (!server) throw new PorticoError('not_found', 'No such server');
    this.#ports.onFresh();
    return server;
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async delete(caller: Caller, id: string): Promise<void> {
    requireScope(caller, 'servers:write');
    const { meta } = await deleteServer(this.#ports.db, id).run();
    if (meta.changes === 0) throw new PorticoError('not_found', 'No such server');
    this.#ports.onFresh();
    await this.#ports.stopMonitor(id);
  }

  #checkAddress(field: string, address: string): void {
    const decision = decideAddress(address, this.#ports.localMode);
    if (decision.allowed) return;
    const { reason } = decision;
    throw new PorticoError('validation_failed', `${field}: ${reason}`, {
      fields: [{ field, message: reason }],
    });
  }
}
