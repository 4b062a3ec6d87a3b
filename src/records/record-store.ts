/**
 * Tables of records that administrators make, edit and delete. Each record has an id, the time it was made and a revision that counts its
 * edits; what else is in a row, and what must be true for it, its own store says. Reads return parsed rows; writes return statements.
 */
import { z } from 'zod';
import { ALWAYS } from '../audit/admin-audit.ts';
import type { Condition } from '../audit/audit-store.ts';
import { toListPage } from '../shared/util/page.ts';
import type { RecordPage, RecordPosition, StoredRecord } from './record-schema.ts';

/** A table of records: the members of a record are its columns. */
export interface RecordTable<T extends StoredRecord> {
  name: string;
  row: z.ZodType<T> & { shape: object };
  /** Where lists are in the order of names, which are unique; else the newest comes first. */
  nameOf?: (record: T) => string;
  /** What must be true for a record to be inserted. */
  whenPossible: (record: T) => Condition;
}

/** A table of records that are edited. */
export interface EditedTable<T extends StoredRecord> extends RecordTable<T> {
  /** The columns that an edit writes, beside the revision. */
  edited: readonly (keyof T & string)[];
  /** What must be true for an edit to be written. */
  whenEditable?: (record: T) => Condition;
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

const TotalSchema = z.object({ total: z.number() });

/** One page of the records that match. */
export async function listRecords<T extends StoredRecord>(
  db: D1Database,
  { name, row, nameOf }: RecordTable<T>,
  filter: Condition,
  limit: number,
  after?: RecordPosition,
): Promise<RecordPage<T>> {
  const order = nameOf ? 'name' : 'created_at DESC, id';
  const onPage = after ? allOf(filter, whenBehind(after)) : filter;
  const [page, total] = await db.batch([
    db
      .prepare(`SELECT * FROM ${name} WHERE ${onPage.sql} ORDER BY ${order} LIMIT ?`)
      .bind(...onPage.params, limit + 1),
    db.prepare(`SELECT count(*) AS total FROM ${name} WHERE ${filter.sql}`).bind(...filter.params),
  ]);
  const records = (page?.results ?? []).map(found => row.parse(found));
  return {
    ...toListPage(records, limit, record =>
      nameOf ? [nameOf(record)] : [record.created_at, record.id],
    ),
    total: TotalSchema.parse(total?.results[0]).total,
  };
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
export async function findRecord<T extends StoredRecord>(
  db: D1Database,
  { name, row }: RecordTable<T>,
  id: string,
): Promise<T | undefined> {
  const found = await db.prepare(`SELECT * FROM ${name} WHERE id = ?`).bind(id).first();
  return found === null ? undefined : row.parse(found);
}

/** The record exists. */
export const whenRecord = ({ name }: { name: string }, id: string): Condition => ({
  sql: `EXISTS (SELECT 1 FROM ${name} WHERE id = ?)`,
  params: [id],
});

/** The record is still at this revision, and may be what it was edited to. */
export const whenUnchanged = <T extends StoredRecord>(
  { name, whenEditable }: EditedTable<T>,
  record: T,
): Condition =>
  allOf(
    {
      sql: `EXISTS (SELECT 1 FROM ${name} WHERE id = ? AND revision = ?)`,
      params: [record.id, record.revision],
    },
    whenEditable?.(record) ?? ALWAYS,
  );

/** Insert a record where it is possible. */
export function insertRecord<T extends StoredRecord>(
  db: D1Database,
  { name, row, whenPossible }: RecordTable<T>,
  record: T,
): D1PreparedStatement {
  const columns = Object.keys(row.shape);
  const valueOf = new Map(Object.entries(record));
  const { sql, params } = whenPossible(record);
  return db
    .prepare(
      `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${columns.map(() => '?').join(', ')} WHERE ${sql}`,
    )
    .bind(...columns.map(column => toParam(valueOf.get(column))), ...params);
}

/** Write an edit over the revision it was made of. */
export function updateRecord<T extends StoredRecord>(
  db: D1Database,
  { name, edited, whenEditable }: EditedTable<T>,
  record: T,
): D1PreparedStatement {
  const { sql, params } = whenEditable?.(record) ?? ALWAYS;
  const values = edited.map(column => toParam(record[column]));
  return db
    .prepare(
      `UPDATE ${name} SET ${edited.map(column => `${column} = ?`).join(', ')}, revision = revision + 1
       WHERE id = ? AND revision = ? AND ${sql}`,
    )
    .bind(...values, record.id, record.revision, ...params);
}

export const deleteRecord = (db: D1Database, { name }: { name: string }, id: string) =>
  db.prepare(`DELETE FROM ${name} WHERE id = ?`).bind(id);
