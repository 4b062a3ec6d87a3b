/**
 * Records that administrators make, read, edit and delete. Each verb that writes is one act with its audit row, in one
 * batch with the change. The kind of record defines what a body means and how it is validated.
 */
import { ALWAYS, type AdminAudit } from '../audit/admin-audit.ts';
import type { Condition } from '../audit/audit-store.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { type Actor, requireScope } from '../shared/identity/principal.ts';
import type { JsonObject } from '../shared/protocol.ts';
import type { NamedServer } from '../shared/util/name-pattern.ts';
import { editRecord } from './edit-with-revision.ts';
import {
  ADMIN_ONLY,
  type RecordPage,
  type RecordPosition,
  type RecordScopes,
  type Stamp,
  type StoredRecord,
} from './record-schema.ts';
import {
  deleteRecord,
  findRecord,
  insertRecord,
  listRecords,
  updateRecord,
  whenRecord,
  whenUnchanged,
  type EditedTable,
  type ReadTable,
  type RecordTable,
} from './record-store.ts';

type Servers = readonly NamedServer[];

/** A kind of record that is listed, found and deleted. `servers` is the registry, for resolving the servers that a body names. */
export interface ReadKind<T extends { id: string }, Query> {
  table: ReadTable<T>;
  /** Its name in audit rows: `cache_rule`. */
  noun: string;
  /** The error detail for a record that does not exist. */
  missing: string;
  /** The scopes for reading and writing it; default: `admin` for both. */
  scopes?: RecordScopes;
  /** Returns the condition for the records that a query selects. */
  filter(query: Query, servers: Servers): Condition | Promise<Condition>;
  /** Details for the audit row of a deletion; none if absent. Never a secret. */
  toDeletionDetail?(record: T): JsonObject;
  /** Called before a record is deleted. */
  onDeleting?(record: T): unknown;
  /** Called after a record was written or deleted. */
  onChanged?(verb: 'create' | 'update' | 'delete', record: T): unknown;
}

/** A kind of record that is created from a body. */
export interface RecordKind<T extends { id: string }, Created, Query> extends ReadKind<T, Query> {
  table: RecordTable<T>;
  /** Returns the id that a body gives; by default the id is random. */
  idOf?(body: Created): string;
  /** Creates the record from a body. @throws PorticoError `validation_failed` */
  make(body: Created, servers: Servers, stamp: Stamp): T | Promise<T>;
  /** Returns why a record could not be written, for tables with conditions. */
  whyNot?(record: T, servers: Servers): PorticoError | Promise<PorticoError>;
  /** Details for the audit row of a write, and of a deletion without its own details. Never a secret. */
  toDetail(record: T): JsonObject;
}

/** A kind of record that can also be edited. */
export type EditedKind<T extends StoredRecord, Created, Query, Patch> = RecordKind<
  T,
  Created,
  Query
> & {
  table: EditedTable<T>;
  /** Applies a patch to a record. @throws PorticoError `validation_failed` */
  edit(before: T, patch: Patch, servers: Servers): T | Promise<T>;
  /** Statements after an edit. They need their own condition, since they also run if the edit was not possible. */
  withEdit?(record: T): readonly D1PreparedStatement[];
  /** Details for the audit row of an edit, if they differ from `toDetail`. */
  toEditDetail?(record: T, patch: Patch): JsonObject;
};

export interface RecordPorts {
  db: D1Database;
  adminAudit: AdminAudit;
}

/** The verbs of a kind of record that is not created from a body alone. */
export interface ReadRecords<T, Query> {
  /** Returns one page of the records, and how many match. @throws PorticoError `forbidden` */
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

/** The verbs of a kind of record. */
export interface Records<T, Created, Query> extends ReadRecords<T, Query> {
  /** @throws PorticoError `forbidden`, `validation_failed`, `conflict` */
  create(caller: Actor, body: Created, servers: Servers): Promise<T>;
}

export interface EditedRecords<T, Created, Query, Patch> extends Records<T, Created, Query> {
  /**
   * @param ifRevision refuses the edit if the record is at another revision
   * @throws PorticoError `forbidden`, `not_found`, `validation_failed`, `conflict`, `precondition_failed`, `busy`
   */
  update(
    caller: Actor,
    id: string,
    patch: Patch,
    servers: Servers,
    ifRevision?: number,
  ): Promise<T>;
}

/** @throws PorticoError `not_found` */
export async function requireRecord<T>(
  db: D1Database,
  { table, missing }: Pick<ReadKind<T & { id: string }, never>, 'table' | 'missing'>,
  key: string,
): Promise<T> {
  const record = await findRecord(db, table, key);
  if (!record) throw new PorticoError('not_found', missing);
  return record;
}

export function createReadRecords<T extends { id: string }, Query>(
  { db, adminAudit }: RecordPorts,
  kind: ReadKind<T, Query>,
): ReadRecords<T, Query> {
  const { table, noun, scopes = ADMIN_ONLY } = kind;
  return {
    async list(caller, query, servers, limit, after) {
      requireScope(caller, scopes.read);
      return listRecords(db, table, await kind.filter(query, servers), limit, after);
    },

    async get(caller, id) {
      requireScope(caller, scopes.read);
      return requireRecord(db, kind, id);
    },

    delete(caller, key) {
      const act = { action: `${noun}.delete`, subject: key };
      return adminAudit.perform(caller, scopes.write, act, async commit => {
        const record = await requireRecord(db, kind, key);
        const { id } = record;
        act.subject = id;
        await kind.onDeleting?.(record);
        const isDone = await commit({
          when: whenRecord(table, id),
          statements: deleteRecord(db, table, id),
          detail: kind.toDeletionDetail?.(record) ?? {},
        });
        if (!isDone) throw new PorticoError('not_found', kind.missing);
        await kind.onChanged?.('delete', record);
      });
    },
  };
}

export function createRecords<T extends { id: string }, Created, Query>(
  ports: RecordPorts,
  kind: RecordKind<T, Created, Query>,
): Records<T, Created, Query> {
  const { db, adminAudit } = ports;
  const { table, noun, scopes = ADMIN_ONLY } = kind;
  return {
    ...createReadRecords(ports, { toDeletionDetail: record => kind.toDetail(record), ...kind }),

    create(caller, body, servers) {
      const id = kind.idOf?.(body) ?? crypto.randomUUID();
      const act = { action: `${noun}.create`, subject: id };
      return adminAudit.perform(caller, scopes.write, act, async commit => {
        const now = Date.now();
        const stamp = { id, revision: 1, created_at: now, updated_at: now };
        const record = await kind.make(body, servers, stamp);
        const isDone = await commit({
          when: table.whenPossible?.(record) ?? ALWAYS,
          statements: [insertRecord(db, table, record)],
          detail: kind.toDetail(record),
        });
        if (!isDone) throw await whyNot(kind, record, servers);
        await kind.onChanged?.('create', record);
        return record;
      });
    },
  };
}

const whyNot = async <T extends { id: string }>(
  kind: Pick<RecordKind<T, never, never>, 'whyNot'>,
  record: T,
  servers: Servers,
): Promise<PorticoError> =>
  (await kind.whyNot?.(record, servers)) ?? new PorticoError('busy', 'It was changed meanwhile');

/** Creates the verbs of a kind of record that can also be edited. */
export function createEditedRecords<T extends StoredRecord, Created, Query, Patch>(
  ports: RecordPorts,
  kind: EditedKind<T, Created, Query, Patch>,
): EditedRecords<T, Created, Query, Patch> {
  const { db, adminAudit } = ports;
  const { table, noun, scopes = ADMIN_ONLY } = kind;
  return {
    ...createRecords(ports, kind),

    update(caller, id, patch, servers, ifRevision) {
      const act = { action: `${noun}.update`, subject: id };
      const find = async () => {
        const record = await requireRecord(db, kind, id);
        act.subject = record.id;
        return record;
      };
      return adminAudit.perform(caller, scopes.write, act, async commit => {
        const after = await editRecord(find, ifRevision, async before => {
          const edited = await kind.edit(before, patch, servers);
          const record = { ...edited, updated_at: Date.now() };
          const isDone = await commit({
            when: whenUnchanged(table, record),
            statements: [updateRecord(db, table, record), ...(kind.withEdit?.(record) ?? [])],
            detail: kind.toEditDetail?.(record, patch) ?? kind.toDetail(record),
          });
          if (!isDone && table.whenEditable && (await find()).revision === before.revision) {
            throw await whyNot(kind, record, servers);
          }
          return isDone;
        });
        await kind.onChanged?.('update', after);
        return after;
      });
    },
  };
}
