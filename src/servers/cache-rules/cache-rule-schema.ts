/** Rules of the result cache in the API: what it takes and shows, and what is stored of one. */
import { z } from 'zod';
import { type NamedServer, PatternSchema } from '../../shared/util/name-pattern.ts';
import { toShownServer } from '../server-names.ts';
import type { CacheRule } from './cache-rule.ts';

/** A rule as it is stored; times in milliseconds since the epoch. */
export interface StoredCacheRule extends CacheRule {
  serverId: string;
  description: string;
  createdAt: number;
  updatedAt: number;
}

/** Longest time that a result may stand in for another, in seconds. */
export const MAX_TTL_SECONDS = 86_400;

const edited = {
  ttl_seconds: z.number().int().min(1).max(MAX_TTL_SECONDS).meta({
    description: 'How old a result may be',
  }),
  public: z.boolean().meta({
    description:
      'The result is the same for everybody who may call the tool. Of a server that keeps sessions it stays one principal’s',
  }),
  description: z.string().max(2000),
};

/** Body of `POST /api/v1/cache/rules`. */
export const CreateCacheRuleSchema = z.strictObject({
  server: z.string().min(1).max(100).meta({ description: 'Name or id of the server' }),
  tool: PatternSchema.meta({
    description:
      'Name of a tool at the server, or a pattern over names; only tools annotated readOnlyHint are ever cached',
  }),
  ...edited,
  public: edited.public.default(false),
  description: edited.description.default(''),
});
export type CreateCacheRule = z.infer<typeof CreateCacheRuleSchema>;

/** Body of `PATCH /api/v1/cache/rules/{id}`: what is absent stays. */
export const UpdateCacheRuleSchema = z.strictObject(edited).partial();
export type UpdateCacheRule = z.infer<typeof UpdateCacheRuleSchema>;

export const CacheRuleViewSchema = z.object({
  id: z.string(),
  server: z.string(),
  tool: z.string(),
  ttl_seconds: z.number().int(),
  public: z.boolean(),
  description: z.string(),
  revision: z.number().int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Project a rule to its API form, with the name its server has now. */
export function toCacheRuleView(
  rule: StoredCacheRule,
  servers: readonly NamedServer[],
): z.infer<typeof CacheRuleViewSchema> {
  const { id, tool, ttlMs, isPublic, description, revision, createdAt, updatedAt } = rule;
  return {
    id,
    server: toShownServer(rule.serverId, servers),
    tool,
    ttl_seconds: ttlMs / 1_000,
    public: isPublic,
    description,
    revision,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  };
}
