/** What records of every kind have in common. */
import { z } from 'zod';
import type { Scope } from '../shared/identity/principal.ts';
import type { ListPage } from '../shared/util/page.ts';

/** What every record that is edited has; times in milliseconds since the epoch. */
export interface StoredRecord {
  id: string;
  /** Counts edits. */
  revision: number;
  created_at: number;
}

/** What a new record begins with; a table may be without `updated_at`. */
export type Stamp = StoredRecord & { updated_at: number };

/** The columns of a stamp, but for the id. */
export const STAMP_COLUMNS = {
  revision: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
};

/** A stamp in the API, but for the id. */
export const STAMP_VIEW = {
  revision: z.number().int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

/** Project a stamp to its API form. @param record one that was never edited may have no time of an edit */
export const toStampView = ({
  revision,
  created_at: createdAt,
  updated_at: updatedAt,
}: Omit<Stamp, 'id' | 'updated_at'> & { updated_at: number | null }) => ({
  revision,
  created_at: new Date(createdAt).toISOString(),
  updated_at: new Date(updatedAt ?? createdAt).toISOString(),
});

/** Who may read and who may write records of a kind. */
export interface RecordScopes {
  read: Scope;
  write: Scope;
}
export const ADMIN_ONLY: RecordScopes = { read: 'admin', write: 'admin' };

/** A yes or no, which a table has as 1 or 0. */
export const FlagSchema = z.number().transform(value => value === 1);

/** What a table has as JSON. */
export const jsonOf = <S extends z.ZodType>(schema: S) =>
  z.string().transform(text => schema.parse(JSON.parse(text)));

/** A query for records with this in their name. */
export const namePartOf = (maxChars: number) =>
  z.string().min(1).max(maxChars).optional().meta({
    description: 'A part of the name, without regard to case',
  });

/** What a patch says, and what was there before for the rest. */
export function patched<T extends object>(
  before: T,
  patch: { [K in keyof T]?: T[K] | undefined },
): T {
  const said = Object.entries(patch).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(said) };
}

/** Where a page of records ended: when the last one was made and its id, or its name where names give the order. */
export const RecordPositionSchema = z.union([
  z.tuple([z.number(), z.string()]),
  z.tuple([z.string()]),
]);
export type RecordPosition = Readonly<z.infer<typeof RecordPositionSchema>>;

/** One page, and how many records match. */
export type RecordPage<T> = ListPage<T> & { total: number };
