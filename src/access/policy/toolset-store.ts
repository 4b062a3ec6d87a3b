/** The `toolsets` table. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import { DefinitionSchema, type Toolset } from './toolset.ts';

const RowSchema = z
  .object({ id: z.string(), name: z.string(), description: z.string(), definition: z.string() })
  .transform((row): Toolset => ({
    id: row.id,
    name: row.name,
    description: row.description,
    definition: DefinitionSchema.parse(JSON.parse(row.definition)),
  }));

/** All toolsets where the registry is no longer at `revision`, else no row. */
export function selectToolsetsSince(db: D1Database, revision: number): D1PreparedStatement {
  return db
    .prepare(
      `SELECT id, name, description, definition FROM toolsets
       WHERE (SELECT revision FROM registry_revision) <> ? ORDER BY name`,
    )
    .bind(revision);
}

/** Rows as toolsets. */
export function parseToolsets(rows: readonly unknown[]): Toolset[] {
  return rows.map(row => RowSchema.parse(row));
}
