/**
 * What changed in the registry: each revision names what it was of (`registry_changes`, written by triggers), so that who holds an
 * older registry reads that and nothing else. The table keeps the last thousand revisions.
 */
import { z } from 'zod';

type ChangeKind = 'server' | 'rule' | 'toolset' | 'budget';

/** What changed since a revision: ids by kind, of what is gone too. */
export type Changed = Readonly<Record<ChangeKind, ReadonlySet<string>>>;

const RowSchema = z.object({
  current: z.number(),
  revision: z.number().nullable(),
  kind: z.string().nullable(),
  id: z.string().nullable(),
});

/** The number that grows with every change of the registry. */
export function selectRevision(db: D1Database): D1PreparedStatement {
  return db.prepare('SELECT revision FROM registry_revision');
}

/** The row of {@link selectRevision}. */
export function parseRevision(rows: readonly unknown[]): number {
  return z.object({ revision: z.number() }).parse(rows[0]).revision;
}

/** The revision of the registry, and what changed since another; for {@link parseChanges}. */
export function selectChanges(db: D1Database, since: number): D1PreparedStatement {
  return db
    .prepare(
      `SELECT now.revision AS current, changes.revision, kind, changes.id
       FROM registry_revision AS now LEFT JOIN registry_changes AS changes ON changes.revision > ?`,
    )
    .bind(since);
}

/** The condition that a row is one that changed; takes the revision since which. */
export const isChanged = (kind: ChangeKind) =>
  `id IN (SELECT id FROM registry_changes WHERE revision > ? AND kind = '${kind}')`;

/**
 * @param since as it was given to {@link selectChanges}
 * @returns without `changed` where it is not known of every revision in between: then everything may have changed
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
