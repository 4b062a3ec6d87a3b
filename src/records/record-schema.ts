/** What records of every kind have in common. */
import { z } from 'zod';
import type { Scope } from '../shared/identity/principal.ts';
import type { ListPage } from '../shared/util/page.ts';

/** Members of every record that can be edited; times in milliseconds since the epoch. */
export interface StoredRecord {
  id: string;
  /** Starts at 1 and grows with each edit. */
  revision: number;
  created_at: number;
}

/** The first values of a new record; a table may lack `updated_at`. */
export type Stamp = StoredRecord & { updated_at: number };

/** The columns of a stamp, except the id. */
export const STAMP_COLUMNS = {
  revision: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
};

/** A stamp in the API, except the id. */
export const STAMP_VIEW = {
  revision: z.number().int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

/** Projects a stamp to its API form. @param record `updated_at` may be null if it was never edited */
export const toStampView = ({
  revision,
  created_at: createdAt,
  updated_at: updatedAt,
}: Omit<Stamp, 'id' | 'updated_at'> & { updated_at: number | null }) => ({
  revision,
  created_at: new Date(createdAt).toISOString(),
  updated_at: new Date(updatedAt ?? createdAt).toISOString(),
});

/** The scopes for reading and writing records of a kind. */
export interface RecordScopes {
  read: Scope;
  write: Scope;
}
export const ADMIN_ONLY: RecordScopes = { read: 'admin', write: 'admin' };

/** A boolean, which a table stores as 1 or 0. */
export const FlagSchema = z.number().transform(value => value === 1);

/** What a record is for. Only spaces are no description. */
export const DescriptionSchema = z
  .string()
  .max(2000)
  .overwrite(text => (text.trim() === '' ? '' : text));

/** A value that a table stores as JSON. */
export const jsonOf = <S extends z.ZodType>(schema: S) =>
  z.string().transform(text => schema.parse(JSON.parse(text)));

/** A query for records whose name contains this text. */
export const namePartOf = (maxChars: number) =>
  z.string().min(1).max(maxChars).optional().meta({
    description: 'A part of the name, without regard to case',
  });

/** Applies a patch: its members, and the previous ones for the rest. */
export function patched<T extends object>(
  before: T,
  patch: { [K in keyof T]?: T[K] | undefined },
): T {
  const said = Object.entries(patch).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(said) };
}

/** Where a page of records ended: the creation time and id of the last record, or its name in lists ordered by name. */
export const RecordPositionSchema = z.union([
  z.tuple([z.number(), z.string()]),
  z.tuple([z.string()]),
]);
export type RecordPosition = Readonly<z.infer<typeof RecordPositionSchema>>;

/** One page, and the total of matching records. */
export type RecordPage<T> = ListPage<T> & { total: number };
