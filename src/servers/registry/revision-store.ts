/**
 * What changed in the registry. Triggers record what each revision changed (`registry_changes`), so that a reader with an older registry
 * reads only that. The table keeps the last thousand revisions.
 */
import { z } from 'zod';

type ChangeKind = 'server' | 'rule' | 'toolset' | 'budget';

/** What changed since a revision: ids by kind, including ids of deleted records. */
export type Changed = Readonly<Record<ChangeKind, ReadonlySet<string>>>;

const RowSchema = z.object({
  current: z.number(),
  revision: z.number().nullable(),
  kind: z.string().nullable(),
  id: z.string().nullable(),
});

/** Selects the registry's revision, which grows with every change. */
export function selectRevision(db: D1Database): D1PreparedStatement {
  return db.prepare('SELECT revision FROM registry_revision');
}

/** Parses the row of {@link selectRevision}. */
export function parseRevision(rows: readonly unknown[]): number {
  return z.object({ revision: z.number() }).parse(rows[0]).revision;
}

/** Selects the registry's revision and what changed since another; for {@link parseChanges}. */
export function selectChanges(db: D1Database, since: number): D1PreparedStatement {
  return db
    .prepare(
      `SELECT now.revision AS current, changes.revision, kind, changes.id
       FROM registry_revision AS now LEFT JOIN registry_changes AS changes ON changes.revision > ?`,
    )
    .bind(since);
}

/** SQL condition for rows that changed; its parameter is the revision to compare with. */
export const isChanged = (kind: ChangeKind) =>
  `id IN (SELECT id FROM registry_changes WHERE revision > ? AND kind = '${kind}')`;

/**
 * @param since the same value that {@link selectChanges} got
 * @returns no `changed` if a revision in between is missing from the table: then anything may have changed
 */
export function parseChanges(
  rows: readonly unknown[],
  since: number,
): { revision: number; changed?: Changed } {
  const parsed = z.tuple([RowSchema], RowSchema).parse(rows);
  const revision = parsed[0].current;
  const known = new Set(parsed.flatMap(row => row.revision ?? []));
  if (known.size !== revision - since) return { revision };
  const idsOf = (kind: ChangeKind) =>
    new Set(parsed.flatMap(row => (row.kind === kind ? (row.id ?? []) : [])));
  return {
    revision,
    changed: {
      server: idsOf('server'),
      rule: idsOf('rule'),
      toolset: idsOf('toolset'),
      budget: idsOf('budget'),
    },
  };
}
