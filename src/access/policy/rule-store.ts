/** The `access_rules` table. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import {
  EffectSchema,
  SubjectColumnsSchema,
  toSubject,
  type AccessRule,
  type SubjectColumns,
} from './rule.ts';

/** @throws ZodError where a kind of subject is none: a rule that cannot be read stops every decision */
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

/** All rules where the registry is no longer at `revision`, else no row. */
export function selectRulesSince(db: D1Database, revision: number): D1PreparedStatement {
  return db
    .prepare(
      `SELECT id, effect, subject_kind, subject, server, tool, read_only FROM access_rules
       WHERE (SELECT revision FROM registry_revision) <> ? ORDER BY id`,
    )
    .bind(revision);
}

/** Rows as rules. */
export function parseRules(rows: readonly unknown[]): AccessRule[] {
  return rows.map(row => RowSchema.parse(row));
}

/** The principal that is the subject exists. */
export const whenSubjectExists = ({ subject_kind: kind, subject }: SubjectColumns): Condition => ({
  sql: `(? <> 'principal' OR EXISTS (SELECT 1 FROM principals WHERE id = ?))`,
  params: [kind, subject],
});
