/** What records of every kind have in common. */
import { z } from 'zod';
import type { ListPage } from '../shared/util/page.ts';

/** What every record has; times in milliseconds since the epoch. */
export interface StoredRecord {
  id: string;
  /** Counts edits. */
  revision: number;
  created_at: number;
}

/** What a new record begins with; a table may be without `updated_at`. */
export type Stamp = StoredRecord & { updated_at: number };

/** A yes or no, which a table has as 1 or 0. */
export const FlagSchema = z.number().transform(value => value === 1);

/** What a table has as JSON. */
export const jsonOf = <S extends z.ZodType>(schema: S) =>
  z.string().transform(text => schema.parse(JSON.parse(text)));

/** Where a page of records ended: when the last one was made and its id, or its name where names give the order. */
export const RecordPositionSchema = z.union([
  z.tuple([z.number(), z.string()]),
  z.tuple([z.string()]),
]);
export type RecordPosition = Readonly<z.infer<typeof RecordPositionSchema>>;

/** One page, and how many records match. */
export type RecordPage<T> = ListPage<T> & { total: number };
