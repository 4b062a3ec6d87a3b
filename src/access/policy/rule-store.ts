/** The `access_rules` table. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import { EffectSchema, SubjectSchema, type AccessRule, type Subject } from './rule.ts';

const RowSchema = z
  .object({
    id: z.string(),
    effect: EffectSchema,
    subject_kind: z.string(),
    subject: z.string(),
    server: z.string(),
    tool: z.string(),
    read_only: z.number(),
  })
  .transform((row): AccessRule => ({
    id: row.id,
    effect: row.effect,
    subject: toSubject(row.subject_kind, row.subject),
    server: row.server,
    tool: row.tool,
    readOnly: row.read_only === 1,
  }));

/** @throws ZodError where the kind is none: a rule that cannot be read stops every decision */
function toSubject(kind: string, subject: string): Subject {
  return SubjectSchema.parse(
    kind === 'group'
      ? { kind, name: subject }
      : kind === 'principal'
        ? { kind, id: subject }
        : { kind },
  );
}

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
