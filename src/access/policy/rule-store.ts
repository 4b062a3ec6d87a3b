/** The `access_rules` table. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { isChanged } from '../../servers/registry/revision-store.ts';
import {
  EffectSchema,
  SubjectColumnsSchema,
  toSubject,
  type AccessRule,
  type SubjectColumns,
} from './rule.ts';

/** @throws ZodError for an unknown kind of subject: a rule that cannot be read stops every decision */
const RowSchema = z
  .object({
    id: z.string(),
    effect: EffectSchema,
    ...SubjectColumnsSchema.shape,
    server: z.string(),
    tool: z.string(),
    read_only: z.number(),
  })
  .transform((row): AccessRule => ({
    id: row.id,
    effect: row.effect,
    subject: toSubject(row),
    server: row.server,
    tool: row.tool,
    readOnly: row.read_only === 1,
  }));

const SELECT = `SELECT id, effect, subject_kind, subject, server, tool, read_only FROM access_rules`;

export function selectRules(db: D1Database): D1PreparedStatement {
  return db.prepare(SELECT);
}

/** Selects the rules that changed since a revision of the registry. */
export function selectChangedRules(db: D1Database, since: number): D1PreparedStatement {
  return db.prepare(`${SELECT} WHERE ${isChanged('rule')}`).bind(since);
}

export function parseRules(rows: readonly unknown[]): AccessRule[] {
  return rows.map(row => RowSchema.parse(row));
}

/** Condition: the subject, if it is a principal, exists. */
export const whenSubjectExists = ({ subject_kind: kind, subject }: SubjectColumns): Condition => ({
  sql: `(? <> 'principal' OR EXISTS (SELECT 1 FROM principals WHERE id = ?))`,
  params: [kind, subject],
});
