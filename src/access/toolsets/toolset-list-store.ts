/** The `toolsets` table as administrators read and write it. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import type { StoredToolset } from './toolset-schema.ts';
import { parseToolsets } from '../policy/toolset-store.ts';

/** Most toolsets of a deployment: they are read with the registry. */
export const MAX_TOOLSETS = 500;
/** Most characters of all definitions together. */
export const MAX_TOOLSETS_CHARS = 4_194_304;

const StoredSchema = z.object({
  revision: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});
const TotalSchema = z.object({ total: z.number() });
const NamedSchema = z.object({ id: z.string(), name: z.string(), chars: z.number() });

function toStored(row: unknown): StoredToolset[] {
  const { revision, created_at: createdAt, updated_at: updatedAt } = StoredSchema.parse(row);
  return parseToolsets([row]).map(toolset => ({ ...toolset, revision, createdAt, updatedAt }));
}

const NAMED = '(?1 IS NULL OR instr(lower(name), lower(?1)) > 0)';

/** One page of the toolsets in the order of their names, and how many match; `name` is a part of it, without regard to case. */
export async function listToolsets(
  db: D1Database,
  name: string | undefined,
  limit: number,
  afterName?: string,
): Promise<ListPage<StoredToolset> & { total: number }> {
  const [page, total] = await db.batch([
    db
      .prepare(
        `SELECT * FROM toolsets WHERE ${NAMED} AND (?2 IS NULL OR name > ?2) ORDER BY name LIMIT ?3`,
      )
      .bind(name ?? null, afterName ?? null, limit + 1),
    db.prepare(`SELECT count(*) AS total FROM toolsets WHERE ${NAMED}`).bind(name ?? null),
  ]);
  return {
    ...toListPage((page?.results ?? []).flatMap(toStored), limit, toolset => [toolset.name]),
    total: TotalSchema.parse(total?.results[0]).total,
  };
}

/** Id, name and size of the definition of every toolset. */
export async function listToolsetNames(db: D1Database): Promise<z.infer<typeof NamedSchema>[]> {
  const { results } = await db
    .prepare('SELECT id, name, length(definition) AS chars FROM toolsets')
    .all();
  return results.map(row => NamedSchema.parse(row));
}

/** One toolset, or undefined. */
export async function findToolset(db: D1Database, id: string): Promise<StoredToolset | undefined> {
  const { results } = await db.prepare('SELECT * FROM toolsets WHERE id = ?').bind(id).all();
  return results.flatMap(toStored)[0];
}

const NAME_IS_FREE =
  'NOT EXISTS (SELECT 1 FROM toolsets WHERE name = ? COLLATE NOCASE AND id <> ?)';
/** Judged without the toolset itself, so for a new one and for an edit alike. */
const HAS_ROOM = `(SELECT count(*) < ${MAX_TOOLSETS} AND coalesce(sum(length(definition)), 0) + ? <= ${MAX_TOOLSETS_CHARS}
   FROM toolsets WHERE id <> ?)`;
const IS_POSSIBLE = `${NAME_IS_FREE} AND ${HAS_ROOM}`;
const possibleParams = ({ id, name, definition }: StoredToolset) =>
  [name, id, JSON.stringify(definition).length, id] as const;

/** Its name is free, and there is room for it. */
export function whenToolsetPossible(toolset: StoredToolset): Condition {
  return { sql: IS_POSSIBLE, params: possibleParams(toolset) };
}

/** The toolset is still at this revision, and what {@link whenToolsetPossible} says. */
export function whenToolsetUnchanged(toolset: StoredToolset): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM toolsets WHERE id = ? AND revision = ?) AND ${IS_POSSIBLE}`,
    params: [toolset.id, toolset.revision, ...possibleParams(toolset)],
  };
}

/** The toolset exists. */
export function whenToolset(id: string): Condition {
  return { sql: 'EXISTS (SELECT 1 FROM toolsets WHERE id = ?)', params: [id] };
}

/** Insert a toolset where it is possible. */
export function insertToolset(db: D1Database, toolset: StoredToolset): D1PreparedStatement {
  const { sql, params } = whenToolsetPossible(toolset);
  return db
    .prepare(
      `INSERT INTO toolsets (id, name, description, definition, revision, created_at, updated_at)
       SELECT ?, ?, ?, ?, ?, ?, ? WHERE ${sql}`,
    )
    .bind(
      toolset.id,
      toolset.name,
      toolset.description,
      JSON.stringify(toolset.definition),
      toolset.revision,
      toolset.createdAt,
      toolset.updatedAt,
      ...params,
    );
}

/** Write an edit over the revision it was made of. */
export function updateToolset(db: D1Database, toolset: StoredToolset): D1PreparedStatement {
  const { id, name, description, definition, revision, updatedAt } = toolset;
  return db
    .prepare(
      `UPDATE toolsets SET name = ?, description = ?, definition = ?, updated_at = ?, revision = revision + 1
       WHERE id = ? AND revision = ? AND ${IS_POSSIBLE}`,
    )
    .bind(
      name,
      description,
      JSON.stringify(definition),
      updatedAt,
      id,
      revision,
      ...possibleParams(toolset),
    );
}

export function deleteToolset(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM toolsets WHERE id = ?').bind(id);
}
