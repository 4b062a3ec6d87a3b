/** The `toolsets` table. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import { isChanged } from '../../servers/registry/revision-store.ts';
import { DefinitionSchema, type Toolset } from './toolset.ts';

const RowSchema = z
  .object({ id: z.string(), name: z.string(), description: z.string(), definition: z.string() })
  .transform((row): Toolset => ({
    id: row.id,
    name: row.name,
    description: row.description,
    definition: DefinitionSchema.parse(JSON.parse(row.definition)),
  }));

const SELECT = 'SELECT id, name, description, definition FROM toolsets';

export function selectToolsets(db: D1Database): D1PreparedStatement {
  return db.prepare(SELECT);
}

/** Selects the toolsets that changed since a revision of the registry. */
export function selectChangedToolsets(db: D1Database, since: number): D1PreparedStatement {
  return db.prepare(`${SELECT} WHERE ${isChanged('toolset')}`).bind(since);
}

export function parseToolsets(rows: readonly unknown[]): Toolset[] {
  return rows.map(row => RowSchema.parse(row));
}
