/** The `access_rules` table as administrators read and write it. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import type { Subject } from '../policy/rule.ts';
import type { StoredRule } from './rule-schema.ts';
import { parseRules } from '../policy/rule-store.ts';

/** Most rules of a deployment: each decision may look at all of them. */
export const MAX_RULES = 1_000;

const StoredSchema = z.object({
  description: z.string(),
  revision: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});
const TotalSchema = z.object({ total: z.number() });
const PatternRowSchema = z.object({ server: z.string() });

function toStored(row: unknown): StoredRule[] {
  const {
    description,
    revision,
    created_at: createdAt,
    updated_at: updatedAt,
  } = StoredSchema.parse(row);
  return parseRules([row]).map(rule => ({ ...rule, description, revision, createdAt, updatedAt }));
}

/** Which rules; what is absent lets every one through. */
export interface RuleFilter {
  subjectKind?: Subject['kind'] | undefined;
  /** Name of a group or id of a principal. */
  subject?: string | undefined;
  /** Patterns over servers, as they are stored. */
  patterns?: readonly string[] | undefined;
}

/** Where a page of rules ended. */
export type RulePosition = readonly [createdAt: number, id: string];

const MATCHES = `(?1 IS NULL OR subject_kind = ?1) AND (?2 IS NULL OR subject = ?2)
  AND (?3 IS NULL OR server IN (SELECT value FROM json_each(?3)))`;

/** One page of the rules, newest first, and how many match. */
export async function listRules(
  db: D1Database,
  { subjectKind, subject, patterns }: RuleFilter,
  limit: number,
  after?: RulePosition,
): Promise<ListPage<StoredRule> & { total: number }> {
  const [createdAt = null, id = null] = after ?? [];
  const params = [subjectKind ?? null, subject ?? null, patterns ? JSON.stringify(patterns) : null];
  const [page, total] = await db.batch([
    db
      .prepare(
        `SELECT * FROM access_rules
         WHERE ${MATCHES} AND (?4 IS NULL OR created_at < ?4 OR (created_at = ?4 AND id > ?5))
         ORDER BY created_at DESC, id LIMIT ?6`,
      )
      .bind(...params, createdAt, id, limit + 1),
    db.prepare(`SELECT count(*) AS total FROM access_rules WHERE ${MATCHES}`).bind(...params),
  ]);
  return {
    ...toListPage((page?.results ?? []).flatMap(toStored), limit, rule => [
      rule.createdAt,
      rule.id,
    ]),
    total: TotalSchema.parse(total?.results[0]).total,
  };
}

/** Every pattern over servers that a rule has. */
export async function listServerPatterns(db: D1Database): Promise<string[]> {
  const { results } = await db.prepare('SELECT DISTINCT server FROM access_rules').all();
  return results.map(row => PatternRowSchema.parse(row).server);
}

/** One rule, or undefined. */
export async function findRule(db: D1Database, id: string): Promise<StoredRule | undefined> {
  const { results } = await db.prepare('SELECT * FROM access_rules WHERE id = ?').bind(id).all();
  return results.flatMap(toStored)[0];
}

const SUBJECT_EXISTS = `(? <> 'principal' OR EXISTS (SELECT 1 FROM principals WHERE id = ?))`;
const HAS_ROOM = `(SELECT count(*) FROM access_rules) < ${MAX_RULES}`;

/** Kind and name of a subject, as columns. */
function subjectParams(subject: Subject): [kind: string, subject: string] {
  if (subject.kind === 'group') return ['group', subject.name];
  return [subject.kind, subject.kind === 'principal' ? subject.id : ''];
}

/** There is room for another rule, and its principal exists. */
export function whenRulePossible({ subject }: StoredRule): Condition {
  return { sql: `${HAS_ROOM} AND ${SUBJECT_EXISTS}`, params: subjectParams(subject) };
}

/** The rule is still at this revision, and its principal exists. */
export function whenRuleUnchanged({ id, revision, subject }: StoredRule): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM access_rules WHERE id = ? AND revision = ?) AND ${SUBJECT_EXISTS}`,
    params: [id, revision, ...subjectParams(subject)],
  };
}

/** The rule exists. */
export function whenRule(id: string): Condition {
  return { sql: 'EXISTS (SELECT 1 FROM access_rules WHERE id = ?)', params: [id] };
}

/** Insert a rule where it is possible. */
export function insertRule(db: D1Database, rule: StoredRule): D1PreparedStatement {
  const { sql, params } = whenRulePossible(rule);
  return db
    .prepare(
      `INSERT INTO access_rules (id, effect, subject_kind, subject, server, tool, read_only, description,
         revision, created_at, updated_at) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ${sql}`,
    )
    .bind(
      rule.id,
      rule.effect,
      ...subjectParams(rule.subject),
      rule.server,
      rule.tool,
      rule.readOnly ? 1 : 0,
      rule.description,
      rule.revision,
      rule.createdAt,
      rule.updatedAt,
      ...params,
    );
}

/** Write an edit over the revision it was made of. */
export function updateRule(db: D1Database, rule: StoredRule): D1PreparedStatement {
  const subject = subjectParams(rule.subject);
  return db
    .prepare(
      `UPDATE access_rules SET effect = ?, subject_kind = ?, subject = ?, server = ?, tool = ?, read_only = ?,
         description = ?, updated_at = ?, revision = revision + 1
       WHERE id = ? AND revision = ? AND ${SUBJECT_EXISTS}`,
    )
    .bind(
      rule.effect,
      ...subject,
      rule.server,
      rule.tool,
      rule.readOnly ? 1 : 0,
      rule.description,
      rule.updatedAt,
      rule.id,
      rule.revision,
      ...subject,
    );
}

export function deleteRule(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM access_rules WHERE id = ?').bind(id);
}
