/** Reads the health of servers: one table holds the health of all, and each monitor holds the history of its server. */
import { type Actor, administers, requireServerScope } from '../../shared/identity/principal.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { Probe } from '../../shared/util/probe.ts';
import { findServer } from '../registry/server-store.ts';
import type { Server } from '../registry/server-schema.ts';
import {
  toCheckView,
  toShownServer,
  type HealthHistory,
  type ShownServer,
} from './health-schema.ts';
import type { History } from './monitor-health.ts';
import type { MeasuredServer } from './server-health.ts';
import {
  findServerHealth,
  listServerHealth,
  listServersWithHealth,
  probeStorage,
} from './server-health-store.ts';
import { toWindowView } from './windows.ts';

export interface HealthPorts {
  db: D1Database;
  /** Reads the history of a server from its monitor. */
  history(serverId: string, before: number | undefined, limit: number): Promise<History>;
}

export class HealthService {
  readonly #ports: HealthPorts;
  readonly #storage: Probe<boolean>;

  constructor(ports: HealthPorts) {
    this.#ports = ports;
    this.#storage = new Probe(() => probeStorage(ports.db).then(() => true), false);
  }

  /** Whether the database can be read. */
  isStorageThere(): Promise<boolean> {
    return this.#storage.result();
  }

  /** Adds their health to servers that the caller may see; one read. */
  async showAll(servers: readonly Server[]): Promise<ShownServer[]> {
    const ids = servers.map(({ id }) => id);
    const known = await listServerHealth(this.#ports.db, ids);
    const byId = new Map(known.map(health => [health.serverId, health]));
    return servers.map(server => toShownServer(server, byId.get(server.id)));
  }

  /** The same for one server. */
  async show(server: Server): Promise<ShownServer> {
    return toShownServer(server, await findServerHealth(this.#ports.db, server.id));
  }

  /**
   * Returns the last checks of a server, newest first, and the sums of its calls.
   * @throws PorticoError `forbidden`, `not_found`
   */
  async history(
    caller: Actor,
    id: string,
    { before, limit }: { before?: number | undefined; limit: number },
  ): Promise<HealthHistory> {
    requireServerScope(caller, 'servers:read');
    const server = await findServer(this.#ports.db, id);
    if (!server || !administers(caller, server)) {
      throw new PorticoError('not_found', 'No such server');
    }
    const { checks, windows } = await this.#ports.history(id, before, limit);
    const last = checks.at(-1);
    return {
      checks: checks.map(toCheckView),
      next_before: last && checks.length === limit ? last.id : null,
      windows: {
        '1m': toWindowView(windows['1m']),
        '5m': toWindowView(windows['5m']),
        '1h': toWindowView(windows['1h']),
      },
    };
  }

  /**
   * Returns the servers that the caller administers, with their health, for a scraper; one read.
   * @throws PorticoError `forbidden`
   */
  async measure(caller: Actor): Promise<MeasuredServer[]> {
    requireServerScope(caller, 'servers:read');
    const servers = await listServersWithHealth(this.#ports.db);
    return servers.filter(server => administers(caller, server));
  }
}
