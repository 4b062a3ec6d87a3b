/** Connectors: enrol, read, rotate the device token, revoke. A device token is shown once, when it is created. */
import type { Actor } from '../../shared/identity/principal.ts';
import { ALWAYS } from '../../audit/admin-audit.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { insertRecord, whenRecord } from '../../records/record-store.ts';
import {
  createReadRecords,
  requireRecord,
  type ReadRecords,
  type RecordPorts,
} from '../../records/records.ts';
import {
  CONNECTOR_SCOPES,
  createDeviceToken,
  type CreateConnector,
  type StoredConnector,
} from './connector-schema.ts';
import {
  CONNECTORS,
  findConnectorByHmac,
  moveConnector,
  rotateConnector,
} from './connector-store.ts';

export interface ConnectorPorts extends RecordPorts {
  keys: KeyRing;
  /** The Durable Objects that hold the sockets of connector machines. */
  lines: {
    /** Announces a revocation: the object checks for it after a while, even if `revoke` is never called. */
    expectRevocation(connectorId: string): Promise<unknown>;
    /** Closes the connection of a connector's machine. */
    revoke(connectorId: string): Promise<unknown>;
  };
}

/** A connector with its new device token, which is shown once. */
export interface Enrolled {
  connector: StoredConnector;
  token: string;
}

export interface Connectors extends ReadRecords<StoredConnector, object> {
  /** @throws PorticoError `forbidden`, `conflict` */
  create(caller: Actor, body: CreateConnector): Promise<Enrolled>;
  /**
   * Gives a connector a new device token, for a machine that lost its token or for a replacement machine. Its servers stay; a machine that
   * is connected with the former token is disconnected.
   * @param key its id or its name
   * @throws PorticoError `forbidden`, `not_found`
   */
  rotate(caller: Actor, key: string): Promise<Enrolled>;
  /** Finds the connector of a device token; undefined if there is none. */
  authenticate(token: string | undefined): Promise<StoredConnector | undefined>;
}

/**
 * Creates the connector service. Deleting a connector revokes it: its machine is disconnected, and its servers stay registered but cannot
 * be reached.
 */
export function createConnectors({ db, keys, adminAudit, lines }: ConnectorPorts): Connectors {
  /** Disconnects the machine of a connector that was revoked. If its object cannot be reached now, the object's alarm does that. */
  const revoke = (id: string) => lines.revoke(id).catch(() => {});
  const kind = {
    table: CONNECTORS,
    noun: 'connector',
    missing: 'No such connector',
    scopes: CONNECTOR_SCOPES,
    filter: () => ALWAYS,
    toDeletionDetail: ({ name }: StoredConnector) => ({ name }),
    onDeleting: ({ id }: StoredConnector) => lines.expectRevocation(id),
    onChanged: (_verb: string, { id }: StoredConnector) => revoke(id),
  };
  const hmacOf = async (token: string) => (await keys.hmacs('device', token))[0] ?? '';

  return {
    ...createReadRecords({ db, adminAudit }, kind),

    create(caller, { name }) {
      // The id names the connector's object and starts the addresses of its servers.
      const id = crypto.randomUUID();
      const act = { action: 'connector.create', subject: id };
      return adminAudit.perform(caller, 'servers:write', act, async commit => {
        const token = createDeviceToken();
        const hmac = await hmacOf(token);
        const connector = {
          id,
          name,
          key_id: keys.active,
          is_connected: false,
          created_at: Date.now(),
          last_seen_at: null,
          rotated_at: 0,
        };
        const when = CONNECTORS.whenPossible(connector);
        const statements = [insertRecord(db, CONNECTORS, connector, when, { hmac })];
        if (!(await commit({ when, statements, detail: { name } }))) {
          throw new PorticoError(
            'conflict',
            `A connector named ${name} exists already, or there are too many`,
          );
        }
        return { connector, token };
      });
    },

    rotate(caller, key) {
      const act = { action: 'connector.rotate', subject: key };
      return adminAudit.perform(caller, 'servers:write', act, async commit => {
        const connector = await requireRecord(db, kind, key);
        const { id, name } = connector;
        act.subject = id;
        const token = createDeviceToken();
        const hmac = await hmacOf(token);
        // Two rotations within one millisecond must get different times.
        const now = Math.max(Date.now(), connector.rotated_at + 1);
        await lines.expectRevocation(id);
        const change = {
          when: whenRecord(CONNECTORS, id),
          statements: [rotateConnector(db, id, { hmac, keyId: keys.active, now })],
          detail: { name },
        };
        if (!(await commit(change))) throw new PorticoError('not_found', kind.missing);
        await revoke(id);
        return { connector: { ...connector, rotated_at: now }, token };
      });
    },

    async authenticate(token) {
      if (token === undefined) return undefined;
      const hmacs = await keys.hmacs('device', token);
      const connector = await findConnectorByHmac(db, hmacs);
      if (connector && connector.key_id !== keys.active) {
        await moveConnector(db, connector, hmacs[0] ?? '', keys.active);
      }
      return connector;
    },
  };
}
