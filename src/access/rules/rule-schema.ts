/** Access rules in the API: what it takes and shows, and what is stored of a rule beside what a decision uses. */
import { z } from 'zod';
import { type NamedServer, PatternSchema } from '../../shared/util/name-pattern.ts';
import { EffectSchema, SubjectSchema, type AccessRule } from '../policy/rule.ts';
import { toShownServer } from '../../servers/server-names.ts';

/** A rule as it is stored; times in milliseconds since the epoch. */
export interface StoredRule extends AccessRule {
  description: string;
  /** Counts edits. */
  revision: number;
  createdAt: number;
  updatedAt: number;
}

const fields = {
  effect: EffectSchema,
  subject: SubjectSchema,
  server: PatternSchema.meta({
    description: 'Name or id of a server, or a pattern over names; stays with the server named',
  }),
  tool: PatternSchema.meta({ description: 'Pattern over the names tools have at their server' }),
  read_only: z.boolean().meta({ description: 'Only tools that are annotated read-only' }),
  description: z.string().max(2000),
};

/** Body of `POST /api/v1/access/rules`. */
export const CreateRuleSchema = z.strictObject({
  ...fields,
  server: fields.server.default('*'),
  tool: fields.tool.default('*'),
  read_only: fields.read_only.default(false),
  description: fields.description.default(''),
});
export type CreateRule = z.infer<typeof CreateRuleSchema>;

/** Body of `PATCH /api/v1/access/rules/{id}`: what is absent stays. */
export const UpdateRuleSchema = z.strictObject(fields).partial();
export type UpdateRule = z.infer<typeof UpdateRuleSchema>;

export const RuleViewSchema = z.object({
  id: z.string(),
  effect: EffectSchema,
  subject: SubjectSchema,
  server: z.string(),
  tool: z.string(),
  read_only: z.boolean(),
  description: z.string(),
  revision: z.number().int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Project a rule to its API form, with the name its server has now. */
export function toRuleView(
  rule: StoredRule,
  servers: readonly NamedServer[],
): z.infer<typeof RuleViewSchema> {
  const { id, effect, subject, tool, readOnly, description, revision, createdAt, updatedAt } = rule;
  return {
    id,
    effect,
    subject,
    server: toShownServer(rule.server, servers),
    tool,
    read_only: readOnly,
    description,
    revision,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  };
}
