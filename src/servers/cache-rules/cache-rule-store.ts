/** The `cache_rules` table: what must be true for its rows, and how they come with the servers of the registry. */
import { z } from 'zod';
import type { EditedTable } from '../../records/record-store.ts';
import type { CacheRule } from './cache-rule.ts';
import { StoredCacheRuleSchema, type StoredCacheRule } from './cache-rule-schema.ts';

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

export const CACHE_RULES: EditedTable<StoredCacheRule> = {
  name: 'cache_rules',
  row: StoredCacheRuleSchema,
  edited: ['ttl_seconds', 'is_public', 'description', 'updated_at'],
  /** There is room for another rule, its server exists and has none for the same tools. */
  whenPossible: ({ server_id: serverId, tool }) => ({
    sql: `(SELECT count(*) FROM cache_rules) < ${MAX_CACHE_RULES}
      AND EXISTS (SELECT 1 FROM servers WHERE id = ?)
      AND NOT EXISTS (SELECT 1 FROM cache_rules WHERE server_id = ? AND tool = ?)`,
    params: [serverId, serverId, tool],
  }),
};

/** Whether a server has a rule for these very tools. */
export async function hasCacheRule(db: D1Database, serverId: string, tool: string) {
  const statement = db.prepare('SELECT 1 FROM cache_rules WHERE server_id = ? AND tool = ?');
  return (await statement.bind(serverId, tool).first()) !== null;
}
