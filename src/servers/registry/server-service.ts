/**
 * Servers: register, read, edit, connect, disconnect, delete. Each write is one administrative act: it checks the scope and commits the
 * change with its audit row. The service notifies the server's monitor before a change (`expect`) and after it (`follow`), so that the
 * monitor applies a change even if the isolate that made it stops in between.
 */
import { ALWAYS, type AdminAudit, type Commit } from '../../audit/admin-audit.ts';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf } from '../../records/record-store.ts';
import { editRecord } from '../../records/edit-with-revision.ts';
import {
  administers,
  hasLimits,
  requireServerScope,
  type Actor,
} from '../../shared/identity/principal.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { deleteServerHealth } from '../health/server-health-store.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { administeredIds } from './administered.ts';
import { applyCredential, checkCredential } from '../../credentials/credential.ts';
import { NO_CREDENTIAL } from '../../credentials/credential-schema.ts';
import { toNewServer, type ServerInput } from './new-server.ts';
import {
  applyUpdate,
  changedFields,
  keptCredential,
  refuseAddresses,
  refuseBeyondLimits,
  refuseMove,
} from './server-edit.ts';
import { toPlaceUrl, type ConnectorPlace } from './connector-place.ts';
import type { CreateServer, CreateStdioServer, Server, UpdateServer } from './server-schema.ts';
import {
  accountsChange,
  deleteServer,
  findServer,
  insertServer,
  parseServers,
  selectServers,
  updateConnecting,
  updateDisconnected,
  updateServer,
  whenPossible,
  whenStatus,
  whenUnchanged,
} from './server-store.ts';
import {
  parseTotal,
  selectServerPage,
  selectServerTotal,
  type ServerFilter,
} from './server-list-store.ts';
import { CONNECTABLE, DISCONNECTABLE, ServerStatusSchema, type ServerStatus } from './status.ts';

/** The Durable Objects that monitor servers. */
export interface MonitorPort {
  /** Announces a change: the monitor reads the server's row after a while, even if `follow` is never called. */
  expect(serverId: string, inMs?: number): Promise<void>;
  /** Makes the monitor apply the server's row now. @returns number of calls under way at a server that was taken down */
  follow(serverId: string): Promise<number>;
}

export interface ServerPorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  monitors: MonitorPort;
  allowsLoopback: boolean;
  /** Marks the registry that this isolate remembers as stale: it may be older than what was just written or shown. */
  invalidateRegistry(): void;
}

/** A registration of a program, without its place. */
type ProgramInput = Omit<CreateStdioServer, 'connection_config' | 'transport_type'>;

export class ServerService {
  readonly #ports: ServerPorts;

  constructor(ports: ServerPorts) {
    this.#ports = ports;
  }

  /** @throws PorticoError `forbidden`, `validation_failed`, `conflict` */
  create(caller: Actor, input: CreateServer): Promise<Server> {
    return this.#create(caller, input, () =>
      refuseAddresses(this.#ports, input.connection_config.url, input.health_check_url),
    );
  }

  /**
   * Registers a program on the machine of a connector.
   * @param hasRoom condition besides that name and program are free
   * @throws PorticoError `forbidden`, `conflict` if the name is taken or the program is already registered
   */
  createOnConnector(
    caller: Actor,
    place: ConnectorPlace,
    input: ProgramInput,
    hasRoom?: Condition,
  ): Promise<Server> {
    const connection_config = { url: toPlaceUrl(place) };
    // The connector may not be connected yet; when it connects, its servers are checked.
    const program = { ...input, transport_type: 'STDIO', connection_config } as const;
    return this.#create(caller, program, () => {}, hasRoom);
  }

  /** @param check throws the input errors that can be found without the database */
  #create(caller: Actor, input: ServerInput, check: () => void, hasRoom = ALWAYS): Promise<Server> {
    const id = crypto.randomUUID();
    const act = { action: 'server.create', subject: id };
    return this.#ports.adminAudit.perform(caller, 'servers:write', act, async commit => {
      check();
      const server = await this.#build(id, input);
      const isProgram = server.transportType === 'STDIO';
      const inMs = isProgram ? CONNECTOR_MS : undefined;
      if (server.autoConnect) await this.#ports.monitors.expect(id, inMs);
      const when = allOf(whenPossible(server), hasRoom);
      const isDone = await commit({
        when,
        statements: [
          insertServer(this.#ports.db, server, when),
          ...accountsChange(this.#ports.db, server, 'shared'),
        ],
        detail: { name: server.name, transport_type: server.transportType },
      });
      if (!isDone) {
        await checkCredential(this.#ports, server, NO_CREDENTIAL, input.connection_config);
        throw nameTaken(server.name);
      }
      const isReachable = server.autoConnect && !isProgram;
      await this.#follow(isReachable ? id : undefined);
      return server;
    });
  }

  /**
   * Returns one page of servers ordered by name, and the number of matches.
   * @param afterName last name of the previous page
   */
  async list(
    caller: Actor,
    filter: ServerFilter,
    limit: number,
    afterName?: string,
  ): Promise<ListPage<Server> & { total: number }> {
    requireServerScope(caller, 'servers:read');
    const { db } = this.#ports;
    const within = { ...filter, ids: await administeredIds(db, caller) };
    const [page, total] = await db.batch([
      selectServerPage(db, within, afterName, limit + 1),
      selectServerTotal(db, within),
    ]);
    this.#ports.invalidateRegistry();
    const servers = parseServers(page?.results ?? []);
    return {
      ...toListPage(servers, limit, ({ name }) => [name]),
      total: parseTotal(total?.results ?? []),
    };
  }

  /** Returns all servers that the caller administers, ordered by name, for an export. */
  async listAll(caller: Actor): Promise<Server[]> {
    requireServerScope(caller, 'servers:read');
    const { results } = await selectServers(this.#ports.db).all();
    return parseServers(results).filter(server => administers(caller, server));
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Actor, id: string): Promise<Server> {
    requireServerScope(caller, 'servers:read');
    const server = await this.#find(caller, id);
    this.#ports.invalidateRegistry();
    return server;
  }

  /**
   * Edits a server.
   * @param ifRevision refuses the edit if the server is at another revision
   * @throws PorticoError `forbidden`, `not_found`, `validation_failed`, `conflict`, `precondition_failed`
   */
  update(caller: Actor, id: string, patch: UpdateServer, ifRevision?: number): Promise<Server> {
    const act = { action: 'server.update', subject: id, isOfServers: true } as const;
    return this.#ports.adminAudit.perform(caller, 'servers:write', act, async commit => {
      const { connection_config: config, health_check_url: healthUrl } = patch;
      refuseAddresses(this.#ports, config?.url, healthUrl ?? undefined);
      const find = () => this.#find(caller, id);
      return editRecord(find, ifRevision, async before => {
        if (hasLimits(caller)) refuseBeyondLimits(before, patch);
        refuseMove(before, patch);
        const { url = before.url, ...given } = patch.connection_config ?? {};
        await checkCredential(this.#ports, { id, url }, keptCredential(before, url), given);
        const { server, isMoved } = await applyUpdate(this.#ports.keys, before, patch);
        // In each attempt: the pauses between them may last longer than a monitor expects a change.
        await this.#ports.monitors.expect(id);
        const isDone = await commit({
          when: whenUnchanged(server),
          statements: updateServer(this.#ports.db, server, isMoved, before.accounts),
          detail: { fields: changedFields(patch) },
        });
        if (isDone) {
          await this.#follow(id);
          return true;
        }
        await checkCredential(this.#ports, { id, url }, keptCredential(before, url), given);
        const { revision } = await find();
        if (revision === before.revision) throw nameTaken(server.name);
        return false;
      });
    });
  }

  /**
   * Connects a server; one that is connected already is checked again.
   * @returns its status afterwards
   */
  connect(caller: Actor, id: string): Promise<ServerStatus> {
    const act = { action: 'server.connect', subject: id, isOfServers: true } as const;
    return this.#ports.adminAudit.perform(caller, 'servers:write', act, async commit => {
      await this.#find(caller, id);
      await this.#ports.monitors.expect(id);
      await this.#step(commit, id, CONNECTABLE, updateConnecting(this.#ports.db, id, Date.now()));
      await this.#follow(id);
      return (await this.#find(caller, id)).status;
    });
  }

  /**
   * Disconnects a server: no new call reaches it, and running calls may end within the drain time.
   * @returns number of running calls, as far as known
   */
  disconnect(caller: Actor, id: string): Promise<number> {
    const act = { action: 'server.disconnect', subject: id, isOfServers: true } as const;
    return this.#ports.adminAudit.perform(caller, 'servers:write', act, async commit => {
      await this.#find(caller, id);
      await this.#ports.monitors.expect(id);
      const { db } = this.#ports;
      await this.#step(commit, id, DISCONNECTABLE, updateDisconnected(db, id, Date.now()));
      return this.#follow(id);
    });
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  delete(caller: Actor, id: string): Promise<void> {
    const act = { action: 'server.delete', subject: id, isOfServers: true } as const;
    return this.#ports.adminAudit.perform(caller, 'servers:write', act, async commit => {
      const { name } = await this.#find(caller, id);
      await this.#ports.monitors.expect(id);
      const isDone = await commit({
        when: whenStatus(id, ServerStatusSchema.options),
        statements: [deleteServer(this.#ports.db, id), deleteServerHealth(this.#ports.db, id)],
        detail: { name },
      });
      if (!isDone) throw new PorticoError('not_found', 'No such server');
      await this.#follow(id);
    });
  }

  /** Changes the status. If the server already has it, nothing changes, and the audit row says so. */
  async #step(
    commit: Commit,
    id: string,
    from: readonly ServerStatus[],
    statement: D1PreparedStatement,
  ): Promise<void> {
    if (await commit({ when: whenStatus(id, from), statements: [statement] })) return;
    const when = whenStatus(id, ServerStatusSchema.options);
    const isThere = await commit({ when, statements: [], detail: { unchanged: true } });
    if (!isThere) throw new PorticoError('not_found', 'No such server');
  }

  /** Has a server's monitor apply a change; if it cannot be reached now, its alarm does. @returns calls at a server taken down, if known */
  async #follow(id?: string): Promise<number> {
    this.#ports.invalidateRegistry();
    return id === undefined ? 0 : this.#ports.monitors.follow(id).catch(() => 0);
  }

  /** @throws PorticoError `not_found` if there is no such server, or the caller does not administer it */
  async #find(caller: Actor, id: string): Promise<Server> {
    const server = await findServer(this.#ports.db, id);
    if (!server || !administers(caller, server)) {
      throw new PorticoError('not_found', 'No such server');
    }
    return server;
  }

  async #build(id: string, input: ServerInput): Promise<Server> {
    const { url, ...given } = input.connection_config;
    await checkCredential(this.#ports, { id, url }, NO_CREDENTIAL, given);
    const credential = await applyCredential(this.#ports.keys, { id, url }, NO_CREDENTIAL, given);
    return toNewServer(id, input, credential, Date.now());
  }
}

/** A new program is checked when its connector connects, or after this time, in milliseconds. */
const CONNECTOR_MS = 30_000;
const nameTaken = (name: string) =>
  new PorticoError('conflict', `A server named ${name} exists already`);
