/**
 * Tables of records that administrators make, edit and delete. Each record has an id and a creation time; its own store
 * defines the other columns and the conditions of writes. Reads return parsed rows; writes return statements.
 */
import { z } from 'zod';
import { ALWAYS } from '../audit/admin-audit.ts';
import type { Condition } from '../audit/audit-store.ts';
import { onEitherSchema, type SchemaAge } from '../shared/util/either-schema.ts';
import { toListPage } from '../shared/util/page.ts';
import type { RecordPage, RecordPosition, StoredRecord } from './record-schema.ts';

/** A table whose records are listed, found and deleted. */
export interface ReadTable<T> {
  name: string;
  row: z.ZodType<T>;
  /** Read in place of the table: a select in brackets, which may hide rows and add computed columns. */
  source?: string;
  /** The same on the last release's schema, if that lacks something that `source` reads. */
  lastSource?: string;
  /** Lists are ordered by name, which is unique; otherwise the newest comes first. */
  isByName?: boolean;
  /** A record can also be found by its name, ignoring case. */
  hasNameAsKey?: boolean;
  /** Deletes a record with what belongs to it, if that is more than its row. */
  remove?(db: D1Database, id: string): D1PreparedStatement[];
}

/** A table of records whose members are the table's columns. */
export interface RecordTable<T extends object> extends ReadTable<T> {
  row: z.ZodType<T> & { shape: object };
  /** Members that the source computes. */
  computed?: readonly (keyof T & string)[];
  /** The condition for inserting a record. */
  whenPossible?(record: T): Condition;
}

/** A table of records that can be edited; each has a revision that counts its edits. */
export interface EditedTable<T extends StoredRecord> extends RecordTable<T> {
  /** The columns that an edit writes, besides the revision. */
  edited: readonly (keyof T & string)[];
  /** The condition for writing an edit. */
  whenEditable?(record: T): Condition;
}

function toParam(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/** Returns the conjunction of the conditions. */
export const allOf = (...all: readonly Condition[]): Condition => ({
  sql: all.map(({ sql }) => sql).join(' AND ') || ALWAYS.sql,
  params: all.flatMap(({ params }) => params),
});

/** The columns have these values; an absent value does not restrict. Column names never come from a request. */
export const whereEqual = (columns: Record<string, string | undefined>): Condition =>
  allOf(
    ...Object.entries(columns).flatMap(([column, value]) =>
      value === undefined ? [] : { sql: `${column} = ?`, params: [value] },
    ),
  );

/** The name contains the text, ignoring case; an absent text does not restrict. */
export const whereNamed = (text: string | undefined): Condition =>
  text === undefined ? ALWAYS : { sql: 'instr(lower(name), lower(?)) > 0', params: [text] };

const TotalSchema = z.object({ total: z.number() });
const PlaceSchema = z.object({ id: z.string(), created_at: z.number() });
const NameSchema = z.object({ name: z.string() });

/** Returns what a table is read from. */
const sourceOf = ({ name, source = name, lastSource = source }: Sourced, age: SchemaAge): string =>
  age === 'this' ? source : lastSource;
type Sourced = Pick<ReadTable<never>, 'name' | 'source' | 'lastSource'>;

/** Returns one page of the records that match. */
export async function listRecords<T>(
  db: D1Database,
  table: ReadTable<T>,
  filter: Condition,
  limit: number,
  after?: RecordPosition,
): Promise<RecordPage<T>> {
  const { row, isByName = false } = table;
  const order = isByName ? 'name' : 'created_at DESC, id';
  const onPage = after ? allOf(filter, whenBehind(after)) : filter;
  const select = (what: string, age: SchemaAge) => `SELECT ${what} FROM ${sourceOf(table, age)}`;
  const [page, total] = await onEitherSchema(age =>
    db.batch([
      db
        .prepare(`${select('*', age)} WHERE ${onPage.sql} ORDER BY ${order} LIMIT ?`)
        .bind(...onPage.params, limit + 1),
      db.prepare(`${select('count(*) AS total', age)} WHERE ${filter.sql}`).bind(...filter.params),
    ]),
  );
  const { items, ...rest } = toListPage(page?.results ?? [], limit, found => {
    if (isByName) return [NameSchema.parse(found).name];
    const { created_at: createdAt, id } = PlaceSchema.parse(found);
    return [createdAt, id];
  });
  const { total: matching } = TotalSchema.parse(total?.results[0]);
  return { items: items.map(found => row.parse(found)), ...rest, total: matching };
}

function whenBehind(position: RecordPosition): Condition {
  if (position.length === 1) return { sql: 'name > ?', params: position };
  const [createdAt, id] = position;
  return {
    sql: '(created_at < ? OR (created_at = ? AND id > ?))',
    params: [createdAt, createdAt, id],
  };
}

/** Returns one record, or undefined. */
export async function findRecord<T>(
  db: D1Database,
  table: ReadTable<T>,
  key: string,
): Promise<T | undefined> {
  const named = table.hasNameAsKey ? 'OR name = ?1 COLLATE NOCASE ORDER BY id <> ?1 LIMIT 1' : '';
  const found = await onEitherSchema(age =>
    db
      .prepare(`SELECT * FROM ${sourceOf(table, age)} WHERE id = ?1 ${named}`)
      .bind(key)
      .first(),
  );
  return found === null ? undefined : table.row.parse(found);
}

/** The record exists. If the last schema needs another source, the record is looked up in the table itself, which both schemas have. */
export const whenRecord = (
  { name, source = name, lastSource }: Sourced,
  id: string,
): Condition => ({
  sql: `EXISTS (SELECT 1 FROM ${lastSource === undefined ? source : name} WHERE id = ?)`,
  params: [id],
});

/** The record is still at this revision, and its edited form is allowed. */
export const whenUnchanged = <T extends StoredRecord>(
  { name, whenEditable }: Pick<EditedTable<T>, 'name' | 'whenEditable'>,
  record: T,
): Condition =>
  allOf(
    {
      sql: `EXISTS (SELECT 1 FROM ${name} WHERE id = ? AND revision = ?)`,
      params: [record.id, record.revision],
    },
    whenEditable?.(record) ?? ALWAYS,
  );

/**
 * Inserts a record.
 * @param when default: the table's `whenPossible`; a caller that passes another one includes that
 * @param more columns that are not members of the record
 */
export function insertRecord<T extends object>(
  db: D1Database,
  { name, row, computed = [], whenPossible }: RecordTable<T>,
  record: T,
  when: Condition = whenPossible?.(record) ?? ALWAYS,
  more: Readonly<Record<string, string>> = {},
): D1PreparedStatement {
  const stored = Object.keys(row.shape).filter(column => !computed.some(each => each === column));
  const columns = [...stored, ...Object.keys(more)];
  const valueOf = new Map<string, unknown>([...Object.entries(record), ...Object.entries(more)]);
  return db
    .prepare(
      `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${columns.map(() => '?').join(', ')} WHERE ${when.sql}`,
    )
    .bind(...columns.map(column => toParam(valueOf.get(column))), ...when.params);
}

/**
 * Writes an edit over the revision it was made from.
 * @param when default: `whenUnchanged`; a caller that passes another one includes that
 */
export function updateRecord<T extends StoredRecord>(
  db: D1Database,
  table: EditedTable<T>,
  record: T,
  when: Condition = whenUnchanged(table, record),
): D1PreparedStatement {
  const { name, edited } = table;
  const values = edited.map(column => toParam(record[column]));
  return db
    .prepare(
      `UPDATE ${name} SET ${edited.map(column => `${column} = ?`).join(', ')}, revision = revision + 1
       WHERE id = ? AND ${when.sql}`,
    )
    .bind(...values, record.id, ...when.params);
}

/** Deletes a record, with what belongs to it. */
export const deleteRecord = (
  db: D1Database,
  { name, remove }: Pick<ReadTable<never>, 'name' | 'remove'>,
  id: string,
): D1PreparedStatement[] =>
  remove?.(db, id) ?? [db.prepare(`DELETE FROM ${name} WHERE id = ?`).bind(id)];
