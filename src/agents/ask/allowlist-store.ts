/** The `ask_allowlist` table. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import { SubjectSchema, type Subject } from '../../access/policy/rule.ts';
import type { Condition } from '../../audit/audit-store.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import type { AllowEntry } from './allow-list.ts';
import type { StoredEntry } from './allowlist-schema.ts';

/** Most entries of a deployment: each decision may look at all of them. */
export const MAX_ENTRIES = 1_000;

const AllowedSchema = z
  .object({ server: z.string(), tool: z.string(), side_effects: z.number() })
  .transform((row): AllowEntry => ({
    server: row.server,
    tool: row.tool,
    sideEffects: row.side_effects === 1,
  }));

const RowSchema = z.object({
  id: z.string(),
  subject_kind: z.string(),
  subject: z.string(),
  description: z.string(),
  revision: z.number(),
  created_at: z.number(),
});
const TotalSchema = z.object({ total: z.number() });

function toStored(row: unknown): StoredEntry {
  const { id, subject_kind: kind, subject, ...rest } = RowSchema.parse(row);
  const { description, revision, created_at: createdAt } = rest;
  const given = kind === 'group' ? { name: subject } : kind === 'principal' ? { id: subject } : {};
  return {
    ...AllowedSchema.parse(row),
    id,
    subject: SubjectSchema.parse({ kind, ...given }),
    description,
    revision,
    createdAt,
  };
}

/** The entries that hold for a principal: those of everyone, of its groups and its own. */
export async function listAllowed(db: D1Database, principalId: string): Promise<AllowEntry[]> {
  const { results } = await db
    .prepare(
      `SELECT server, tool, side_effects FROM ask_allowlist
       WHERE subject_kind = 'everyone' OR (subject_kind = 'principal' AND subject = ?1)
         OR (subject_kind = 'group' AND subject IN
           (SELECT value FROM json_each((SELECT groups FROM principals WHERE id = ?1))))
       ORDER BY id`,
    )
    .bind(principalId)
    .all();
  return results.map(row => AllowedSchema.parse(row));
}

/** Where a page of entries ended. */
export type EntryPosition = readonly [createdAt: number, id: string];

/** One page of the entries, newest first, and how many there are. */
export async function listEntries(
  db: D1Database,
  limit: number,
  after?: EntryPosition,
): Promise<ListPage<StoredEntry> & { total: number }> {
  const [createdAt = null, id = null] = after ?? [];
  const [page, total] = await db.batch([
    db
      .prepare(
        `SELECT * FROM ask_allowlist WHERE ?1 IS NULL OR created_at < ?1 OR (created_at = ?1 AND id > ?2)
         ORDER BY created_at DESC, id LIMIT ?3`,
      )
      .bind(createdAt, id, limit + 1),
    db.prepare('SELECT count(*) AS total FROM ask_allowlist'),
  ]);
  return {
    ...toListPage((page?.results ?? []).map(toStored), limit, entry => [entry.createdAt, entry.id]),
    total: TotalSchema.parse(total?.results[0]).total,
  };
}

/** One entry, or undefined. */
export async function findEntry(db: D1Database, id: string): Promise<StoredEntry | undefined> {
  const { results } = await db.prepare('SELECT * FROM ask_allowlist WHERE id = ?').bind(id).all();
  return results.map(toStored)[0];
}

/** Kind and name of a subject, as columns. */
function subjectParams(subject: Subject): [kind: string, subject: string] {
  if (subject.kind === 'group') return ['group', subject.name];
  return [subject.kind, subject.kind === 'principal' ? subject.id : ''];
}

/** There is room for another entry, and its principal exists. */
export function whenEntryPossible({ subject }: StoredEntry): Condition {
  return {
    sql: `(SELECT count(*) FROM ask_allowlist) < ${MAX_ENTRIES}
      AND (? <> 'principal' OR EXISTS (SELECT 1 FROM principals WHERE id = ?))`,
    params: subjectParams(subject),
  };
}

/** The entry exists. */
export function whenEntry(id: string): Condition {
  return { sql: 'EXISTS (SELECT 1 FROM ask_allowlist WHERE id = ?)', params: [id] };
}

/** Insert an entry where it is possible. */
export function insertEntry(db: D1Database, entry: StoredEntry): D1PreparedStatement {
  const { sql, params } = whenEntryPossible(entry);
  return db
    .prepare(
      `INSERT INTO ask_allowlist (id, subject_kind, subject, server, tool, side_effects, description, revision,
         created_at) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ${sql}`,
    )
    .bind(
      entry.id,
      ...subjectParams(entry.subject),
      entry.server,
      entry.tool,
      entry.sideEffects ? 1 : 0,
      entry.description,
      entry.revision,
      entry.createdAt,
      ...params,
    );
}

export function deleteEntry(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM ask_allowlist WHERE id = ?').bind(id);
}
