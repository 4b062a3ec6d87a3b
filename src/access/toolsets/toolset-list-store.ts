/** The `toolsets` table as administrators read and write it: the conditions for its rows. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import type { EditedTable } from '../../records/record-store.ts';
import { StoredToolsetSchema, type StoredToolset } from './toolset-schema.ts';

/** Most toolsets of a deployment: they are read with the registry. */
export const MAX_TOOLSETS = 500;
/** Most characters of all definitions together. */
export const MAX_TOOLSETS_CHARS = 4_194_304;

/** Condition: the name is free and there is room. It ignores the toolset itself, so it holds for a new one and for an edit alike. */
const whenPossible = ({ id, name, definition }: StoredToolset): Condition => ({
  sql: `NOT EXISTS (SELECT 1 FROM toolsets WHERE name = ? COLLATE NOCASE AND id <> ?)
    AND (SELECT count(*) < ${MAX_TOOLSETS} AND coalesce(sum(length(definition)), 0) + ? <= ${MAX_TOOLSETS_CHARS}
      FROM toolsets WHERE id <> ?)`,
  params: [name, id, JSON.stringify(definition).length, id],
});

export const TOOLSETS: EditedTable<StoredToolset> = {
  name: 'toolsets',
  row: StoredToolsetSchema,
  isByName: true,
  edited: ['name', 'description', 'definition', 'updated_at'],
  whenPossible,
  whenEditable: whenPossible,
};

const NamedSchema = z.object({ id: z.string(), name: z.string() });

/** Returns id and name of every toolset. */
export async function listToolsetNames(db: D1Database): Promise<z.infer<typeof NamedSchema>[]> {
  const { results } = await db.prepare('SELECT id, name FROM toolsets').all();
  return results.map(row => NamedSchema.parse(row));
}
