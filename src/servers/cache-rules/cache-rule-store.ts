/** The `cache_rules` table. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import type { CacheRule } from './cache-rule.ts';
import type { StoredCacheRule } from './cache-rule-schema.ts';

/** Most rules of a deployment: they come with every reading of the registry. */
export const MAX_CACHE_RULES = 1_000;

const PartSchema = z
  .array(z.tuple([z.string(), z.string(), z.number(), z.number(), z.number()]))
  .transform((rows): CacheRule[] =>
    rows.map(([id, tool, seconds, isPublic, revision]) => ({
      id,
      tool,
      ttlMs: seconds * 1_000,
      isPublic: isPublic === 1,
      revision,
    })),
  );

/** What a select of `servers` reads its rules by: JSON text under `cache_rules`. */
export const RULES_OF_SERVER = `(SELECT json_group_array(json_array(id, tool, ttl_seconds, is_public, revision))
  FROM cache_rules WHERE server_id = servers.id) AS cache_rules`;

/** The text of {@link RULES_OF_SERVER}. */
export const parseRulesOfServer = (text: string): CacheRule[] => PartSchema.parse(JSON.parse(text));

const RowSchema = z
  .object({
    id: z.string(),
    server_id: z.string(),
    tool: z.string(),
    ttl_seconds: z.number(),
    is_public: z.number(),
    description: z.string(),
    revision: z.number(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .transform((row): StoredCacheRule => ({
    id: row.id,
    serverId: row.server_id,
    tool: row.tool,
    ttlMs: row.ttl_seconds * 1_000,
    isPublic: row.is_public === 1,
    description: row.description,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
const TotalSchema = z.object({ total: z.number() });

/** Where a page of rules ended. */
export type CacheRulePosition = readonly [createdAt: number, id: string];

/** One page of the rules, newest first, and how many match. @param serverId of whose rules; absent of all */
export async function listCacheRules(
  db: D1Database,
  serverId: string | undefined,
  limit: number,
  after?: CacheRulePosition,
): Promise<ListPage<StoredCacheRule> & { total: number }> {
  const [createdAt = null, id = null] = after ?? [];
  const matching = '(?1 IS NULL OR server_id = ?1)';
  const [page, total] = await db.batch([
    db
      .prepare(
        `SELECT * FROM cache_rules
         WHERE ${matching} AND (?2 IS NULL OR created_at < ?2 OR (created_at = ?2 AND id > ?3))
         ORDER BY created_at DESC, id LIMIT ?4`,
      )
      .bind(serverId ?? null, createdAt, id, limit + 1),
    db
      .prepare(`SELECT count(*) AS total FROM cache_rules WHERE ${matching}`)
      .bind(serverId ?? null),
  ]);
  const rows = (page?.results ?? []).map(row => RowSchema.parse(row));
  return {
    ...toListPage(rows, limit, rule => [rule.createdAt, rule.id]),
    total: TotalSchema.parse(total?.results[0]).total,
  };
}

/** One rule, or undefined. */
export async function findCacheRule(
  db: D1Database,
  id: string,
): Promise<StoredCacheRule | undefined> {
  const row = await db.prepare('SELECT * FROM cache_rules WHERE id = ?').bind(id).first();
  return row === null ? undefined : RowSchema.parse(row);
}

/** Whether a server has a rule for these very tools. */
export async function hasCacheRule(db: D1Database, serverId: string, tool: string) {
  const statement = db.prepare('SELECT 1 FROM cache_rules WHERE server_id = ? AND tool = ?');
  return (await statement.bind(serverId, tool).first()) !== null;
}

const IS_POSSIBLE = `(SELECT count(*) FROM cache_rules) < ${MAX_CACHE_RULES}
  AND EXISTS (SELECT 1 FROM servers WHERE id = ?)
  AND NOT EXISTS (SELECT 1 FROM cache_rules WHERE server_id = ? AND tool = ?)`;

/** There is room for another rule, its server exists and has none for the same tools. */
export function whenCacheRulePossible({ serverId, tool }: StoredCacheRule): Condition {
  return { sql: IS_POSSIBLE, params: [serverId, serverId, tool] };
}

/** The rule is still at this revision. */
export function whenCacheRuleUnchanged({ id, revision }: StoredCacheRule): Condition {
  return {
    sql: 'EXISTS (SELECT 1 FROM cache_rules WHERE id = ? AND revision = ?)',
    params: [id, revision],
  };
}

/** The rule exists. */
export function whenCacheRule(id: string): Condition {
  return { sql: 'EXISTS (SELECT 1 FROM cache_rules WHERE id = ?)', params: [id] };
}

/** Insert a rule where it is possible. */
export function insertCacheRule(db: D1Database, rule: StoredCacheRule): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO cache_rules (id, server_id, tool, ttl_seconds, is_public, description, revision, created_at,
         updated_at) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ${IS_POSSIBLE}`,
    )
    .bind(
      rule.id,
      rule.serverId,
      rule.tool,
      rule.ttlMs / 1_000,
      rule.isPublic ? 1 : 0,
      rule.description,
      rule.revision,
      rule.createdAt,
      rule.updatedAt,
      rule.serverId,
      rule.serverId,
      rule.tool,
    );
}

/** Write an edit over the revision it was made of. */
export function updateCacheRule(db: D1Database, rule: StoredCacheRule): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE cache_rules SET ttl_seconds = ?, is_public = ?, description = ?, updated_at = ?,
         revision = revision + 1 WHERE id = ? AND revision = ?`,
    )
    .bind(
      rule.ttlMs / 1_000,
      rule.isPublic ? 1 : 0,
      rule.description,
      rule.updatedAt,
      rule.id,
      rule.revision,
    );
}

export function deleteCacheRule(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM cache_rules WHERE id = ?').bind(id);
}
