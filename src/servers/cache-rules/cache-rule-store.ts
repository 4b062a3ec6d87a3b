/** The `cache_rules` table: the conditions for its rows, and how rules are read together with the servers of the registry. */
import { z } from 'zod';
import type { EditedTable } from '../../records/record-store.ts';
import type { CacheRule } from './cache-rule.ts';
import { StoredCacheRuleSchema, type StoredCacheRule } from './cache-rule-schema.ts';

/** Maximum number of rules in a deployment: every read of the registry loads all of them. */
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

/** Column of a select on `servers` that reads a server's rules as JSON text, named `cache_rules`. */
export const RULES_OF_SERVER = `(SELECT json_group_array(json_array(id, tool, ttl_seconds, is_public, revision))
  FROM cache_rules WHERE server_id = servers.id) AS cache_rules`;

/** Parses the text of {@link RULES_OF_SERVER}. */
export const parseRulesOfServer = (text: string): CacheRule[] => PartSchema.parse(JSON.parse(text));

export const CACHE_RULES: EditedTable<StoredCacheRule> = {
  name: 'cache_rules',
  row: StoredCacheRuleSchema,
  edited: ['ttl_seconds', 'is_public', 'description', 'updated_at'],
  /** Condition: there is room for another rule, and its server exists and has no rule for the same tool pattern. */
  whenPossible: ({ server_id: serverId, tool }) => ({
    sql: `(SELECT count(*) FROM cache_rules) < ${MAX_CACHE_RULES}
      AND EXISTS (SELECT 1 FROM servers WHERE id = ?)
      AND NOT EXISTS (SELECT 1 FROM cache_rules WHERE server_id = ? AND tool = ?)`,
    params: [serverId, serverId, tool],
  }),
};

/** Whether a server has a rule with exactly this tool pattern. */
export async function hasCacheRule(db: D1Database, serverId: string, tool: string) {
  const statement = db.prepare('SELECT 1 FROM cache_rules WHERE server_id = ? AND tool = ?');
  return (await statement.bind(serverId, tool).first()) !== null;
}
