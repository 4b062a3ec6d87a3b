/** Rules of the result cache in the API: bodies, views, and the stored row. */
import { z } from 'zod';
import {
  DescriptionSchema,
  FlagSchema,
  STAMP_COLUMNS,
  STAMP_VIEW,
  toStampView,
} from '../../records/record-schema.ts';
import { type NamedServer, PatternSchema } from '../../shared/util/name-pattern.ts';
import { toShownServer } from '../server-names.ts';

/** A row of `cache_rules`; times in milliseconds since the epoch. */
export const StoredCacheRuleSchema = z.object({
  id: z.string(),
  server_id: z.string(),
  tool: z.string(),
  ttl_seconds: z.number(),
  is_public: FlagSchema,
  description: z.string(),
  ...STAMP_COLUMNS,
});
export type StoredCacheRule = z.infer<typeof StoredCacheRuleSchema>;

/** Longest time for which a cached result may be reused, in seconds. */
export const MAX_TTL_SECONDS = 86_400;

const edited = {
  ttl_seconds: z.number().int().min(1).max(MAX_TTL_SECONDS).meta({
    description: 'Maximum age of a cached result',
  }),
  public: z.boolean().meta({
    description:
      'The result is the same for everybody who may call the tool. For a server that keeps sessions, results are cached for each principal',
  }),
  description: DescriptionSchema,
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

/** Body of `PATCH /api/v1/cache/rules/{id}`: an absent field stays as it is. */
export const UpdateCacheRuleSchema = z.strictObject(edited).partial();
export type UpdateCacheRule = z.infer<typeof UpdateCacheRuleSchema>;

/** Filter for the list. */
export const CacheRuleQuerySchema = z.strictObject({
  server: z.string().min(1).max(100).optional().meta({
    description: 'Name or id of a server: its rules',
  }),
});
export type CacheRuleQuery = z.infer<typeof CacheRuleQuerySchema>;

export const CacheRuleViewSchema = z.object({
  id: z.string(),
  server: z.string(),
  tool: z.string(),
  ttl_seconds: z.number().int(),
  public: z.boolean(),
  description: z.string(),
  ...STAMP_VIEW,
});

/** Converts a rule to its API form, with the current name of its server. */
export function toCacheRuleView(
  rule: StoredCacheRule,
  servers: readonly NamedServer[],
): z.infer<typeof CacheRuleViewSchema> {
  return {
    id: rule.id,
    server: toShownServer(rule.server_id, servers),
    tool: rule.tool,
    ttl_seconds: rule.ttl_seconds,
    public: rule.is_public,
    description: rule.description,
    ...toStampView(rule),
  };
}
