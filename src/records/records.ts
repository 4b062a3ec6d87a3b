/**
 * Records that administrators make, read, edit and delete. Each verb that writes is one act with its audit row, in one batch with the
 * change; what a body means, and what is checked of it, the kind of record says.
 */
import type { AdminAudit } from '../audit/admin-audit.ts';
import type { Condition } from '../audit/audit-store.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { type Actor, requireScope } from '../shared/identity/principal.ts';
import type { JsonObject } from '../shared/protocol.ts';
import type { NamedServer } from '../shared/util/name-pattern.ts';
import { editRecord } from './edit-with-revision.ts';
import type { RecordPage, RecordPosition, Stamp, StoredRecord } from './record-schema.ts';
import {
  deleteRecord,
  findRecord,
  insertRecord,
  listRecords,
  updateRecord,
  whenRecord,
  whenUnchanged,
  type EditedTable,
  type RecordTable,
} from './record-store.ts';

type Servers = readonly NamedServer[];

/** A kind of record. `servers` is the registry, to resolve the servers that a body names. */
export interface RecordKind<T extends StoredRecord, Created, Query> {
  table: RecordTable<T>;
  /** What audit rows call it: `cache_rule`. */
  noun: string;
  /** What a refusal tells of one that does not exist. */
  missing: string;
  /** The record that a body makes. @throws PorticoError `validation_failed` */
  make(body: Created, servers: Servers, stamp: Stamp): T | Promise<T>;
  /** Why a record could not be inserted. */
  whyNot(record: T, body: Created, servers: Servers): Promise<PorticoError>;
  /** Which records a query means. */
  filter(query: Query, servers: Servers): Condition | Promise<Condition>;
  /** What the audit tells of a record. Never a secret. */
  toDetail(record: T): JsonObject;
  /** A record was written or deleted. */
  onChanged?(): void | Promise<void>;
}

/** A kind of record that is edited, too. */
export type EditedKind<T extends StoredRecord, Created, Query, Patch> = RecordKind<
  T,
  Created,
  Query
> & {
  table: EditedTable<T>;
  /** The record that a patch makes of the one before. @throws PorticoError `validation_failed` */
  edit(before: T, patch: Patch, servers: Servers): T | Promise<T>;
  /** What the audit tells of an edit, where that is not what it tells of the record. */
  toEditDetail?(record: T, patch: Patch): JsonObject;
};

export interface RecordPorts {
  db: D1Database;
  adminAudit: AdminAudit;
}

/** The verbs of a kind of record. */
export interface Records<T, Created, Query> {
  /** @throws PorticoError `forbidden`, `validation_failed`, `conflict` */
  create(caller: Actor, body: Created, servers: Servers): Promise<T>;
  /** One page of the records, and how many match. @throws PorticoError `forbidden` */
  list(
    caller: Actor,
    query: Query,
    servers: Servers,
    limit: number,
    after?: RecordPosition,
  ): Promise<RecordPage<T>>;
  /** @throws PorticoError `forbidden`, `not_found` */
  get(caller: Actor, id: string): Promise<T>;
  /** @throws PorticoError `forbidden`, `not_found` */
  delete(caller: Actor, id: string): Promise<void>;
}

export interface EditedRecords<T, Created, Query, Patch> extends Records<T, Created, Query> {
  /**
   * @param ifRevision refuse where the record is at another revision
   * @throws PorticoError `forbidden`, `not_found`, `validation_failed`, `precondition_failed`, `busy`
   */
  update(
    caller: Actor,
    id: string,
    patch: Patch,
    servers: Servers,
    ifRevision?: number,
  ): Promise<T>;
}

async function find<T extends StoredRecord>(
  db: D1Database,
  { table, missing }: Pick<RecordKind<T, never, never>, 'table' | 'missing'>,
  id: string,
): Promise<T> {
  const record = await findRecord(db, table, id);
  if (!record) throw new PorticoError('not_found', missing);
  return record;
}

export function createRecords<T extends StoredRecord, Created, Query>(
  { db, adminAudit }: RecordPorts,
  kind: RecordKind<T, Created, Query>,
): Records<T, Created, Query> {
  const { table, noun } = kind;
  return {
    create(caller, body, servers) {
      const id = crypto.randomUUID();
      const act = { action: `${noun}.create`, subject: id };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const now = Date.now();
        const stamp = { id, revision: 1, created_at: now, updated_at: now };
        const record = await kind.make(body, servers, stamp);
        const isDone = await commit({
          when: table.whenPossible(record),
          statements: [insertRecord(db, table, record)],
          detail: kind.toDetail(record),
        });
        if (!isDone) throw await kind.whyNot(record, body, servers);
        await kind.onChanged?.();
        return record;
      });
    },

    async list(caller, query, servers, limit, after) {
      requireScope(caller, 'admin');
      return listRecords(db, table, await kind.filter(query, servers), limit, after);
    },

    async get(caller, id) {
      requireScope(caller, 'admin');
      return find(db, kind, id);
    },

    delete(caller, id) {
      const act = { action: `${noun}.delete`, subject: id };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const record = await find(db, kind, id);
        const isDone = await commit({
          when: whenRecord(table, id),
          statements: [deleteRecord(db, table, id)],
          detail: kind.toDetail(record),
        });
        if (!isDone) throw new PorticoError('not_found', kind.missing);
        await kind.onChanged?.();
      });
    },
  };
}

/** The verbs of a kind of record that is edited, too. */
export function createEditedRecords<T extends StoredRecord, Created, Query, Patch>(
  ports: RecordPorts,
  kind: EditedKind<T, Created, Query, Patch>,
): EditedRecords<T, Created, Query, Patch> {
  const { db, adminAudit } = ports;
  const { table, noun } = kind;
  return {
    ...createRecords(ports, kind),

    update(caller, id, patch, servers, ifRevision) {
      const act = { action: `${noun}.update`, subject: id };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const after = await editRecord(
          () => find(db, kind, id),
          ifRevision,
          async before => {
            const edited = await kind.edit(before, patch, servers);
            const record = { ...edited, updated_at: Date.now() };
            return commit({
              when: whenUnchanged(table, record),
              statements: [updateRecord(db, table, record)],
              detail: kind.toEditDetail?.(record, patch) ?? kind.toDetail(record),
            });
          },
        );
        await kind.onChanged?.();
        return after;
      });
    },
  };
}
