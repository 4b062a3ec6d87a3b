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

/** Where a page of records ended. */
export const RecordPositionSchema = z.tuple([z.number(), z.string()]);
export type RecordPosition = Readonly<z.infer<typeof RecordPositionSchema>>;

/** One page, and how many records match. */
export type RecordPage<T> = ListPage<T> & { total: number };
