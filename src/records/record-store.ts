/**
 * Tables of records that administrators make, edit and delete. Each record has an id and the time it was made; what else is in a row, and
 * what must be true for it, its own store says. Reads return parsed rows; writes return statements.
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
  /** What is read in place of the table: a select in brackets with rows that are shown, and columns that are computed. */
  source?: string;
  /** The same on the schema of the last release, where that lacks something of it. */
  lastSource?: string;
  /** Lists are in the order of names, which are unique; else the newest comes first. */
  isByName?: boolean;
  /** A record is found by its name too, whatever its case. */
  hasNameAsKey?: boolean;
  /** Deletes a record with what belongs to it, where that is more than its row. */
  remove?(db: D1Database, id: string): D1PreparedStatement[];
}

/** A table of records: the members of a record are its columns. */
export interface RecordTable<T extends object> extends ReadTable<T> {
  row: z.ZodType<T> & { shape: object };
  /** Members that are computed by the source. */
  computed?: readonly (keyof T & string)[];
  /** What must be true for a record to be inserted. */
  whenPossible?(record: T): Condition;
}

/** A table of records that are edited; each has a revision that counts its edits. */
export interface EditedTable<T extends StoredRecord> extends RecordTable<T> {
  /** The columns that an edit writes, beside the revision. */
  edited: readonly (keyof T & string)[];
  /** What must be true for an edit to be written. */
  whenEditable?(record: T): Condition;
}

function toParam(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/** All of the conditions. */
export const allOf = (...all: readonly Condition[]): Condition => ({
  sql: all.map(({ sql }) => sql).join(' AND ') || ALWAYS.sql,
  params: all.flatMap(({ params }) => params),
});

/** The columns have these values; what is absent may have any. Names of columns never come from a request. */
export const whereEqual = (columns: Record<string, string | undefined>): Condition =>
  allOf(
    ...Object.entries(columns).flatMap(([column, value]) =>
      value === undefined ? [] : { sql: `${column} = ?`, params: [value] },
    ),
  );

/** The text is a part of the name, without regard to case; where it is absent every name will do. */
export const whereNamed = (text: string | undefined): Condition =>
  text === undefined ? ALWAYS : { sql: 'instr(lower(name), lower(?)) > 0', params: [text] };

const TotalSchema = z.object({ total: z.number() });
const PlaceSchema = z.object({ id: z.string(), created_at: z.number() });
const NameSchema = z.object({ name: z.string() });

/** What a table is read of. */
const sourceOf = ({ name, source = name, lastSource = source }: Sourced, age: SchemaAge): string =>
  age === 'this' ? source : lastSource;
type Sourced = Pick<ReadTable<never>, 'name' | 'source' | 'lastSource'>;

/** One page of the records that match. */
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

/** One record, or undefined. */
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

/** The record exists; one that is read otherwise on the last schema is looked for in its table, which both have. */
export const whenRecord = (
  { name, source = name, lastSource }: Sourced,
  id: string,
): Condition => ({
  sql: `EXISTS (SELECT 1 FROM ${lastSource === undefined ? source : name} WHERE id = ?)`,
  params: [id],
});

/** The record is still at this revision, and may be what it was edited to. */
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
 * Insert a record.
 * @param when where it is possible, or where that and more is true
 * @param more columns that no record shows
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

/** Write an edit over the revision it was made of. @param when that the record is unchanged, or that and more */
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

/** Delete a record, with what belongs to it. */
export const deleteRecord = (
  db: D1Database,
  { name, remove }: Pick<ReadTable<never>, 'name' | 'remove'>,
  id: string,
): D1PreparedStatement[] =>
  remove?.(db, id) ?? [db.prepare(`DELETE FROM ${name} WHERE id = ?`).bind(id)];
