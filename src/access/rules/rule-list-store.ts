/** The `access_rules` table as administrators read and write it: the conditions for its rows. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf, type EditedTable } from '../../records/record-store.ts';
import { whenSubjectExists } from '../policy/rule-store.ts';
import { StoredRuleSchema, type StoredRule } from './rule-schema.ts';

/** Most rules of a deployment: each decision may compare all of them. */
export const MAX_RULES = 1_000;

const hasRoom = { sql: `(SELECT count(*) FROM access_rules) < ${MAX_RULES}`, params: [] };

export const ACCESS_RULES: EditedTable<StoredRule> = {
  name: 'access_rules',
  row: StoredRuleSchema,
  edited: [
    'effect',
    'subject_kind',
    'subject',
    'server',
    'tool',
    'read_only',
    'description',
    'updated_at',
  ],
  whenPossible: rule => allOf(hasRoom, whenSubjectExists(rule)),
  whenEditable: whenSubjectExists,
};

const PatternRowSchema = z.object({ server: z.string() });

/** Returns every pattern over servers that a rule has. */
export async function listServerPatterns(db: D1Database): Promise<string[]> {
  const { results } = await db.prepare('SELECT DISTINCT server FROM access_rules').all();
  return results.map(row => PatternRowSchema.parse(row).server);
}

/** Condition: the rule has one of these patterns over servers. */
export const whenServerIn = (patterns: readonly string[]): Condition => ({
  sql: 'server IN (SELECT value FROM json_each(?))',
  params: [JSON.stringify(patterns)],
});
