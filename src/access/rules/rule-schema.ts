/** Access rules in the API: what it accepts and shows, and what is stored of a rule. */
import { z } from 'zod';
import { type NamedServer, PatternSchema } from '../../shared/util/name-pattern.ts';
import {
  DescriptionSchema,
  FlagSchema,
  STAMP_COLUMNS,
  STAMP_VIEW,
  toStampView,
} from '../../records/record-schema.ts';
import { EffectSchema, SubjectColumnsSchema, SubjectSchema, toSubject } from '../policy/rule.ts';
import { toShownServer } from '../../servers/server-names.ts';

/** A row of `access_rules`; times in milliseconds since the epoch. */
export const StoredRuleSchema = z.object({
  id: z.string(),
  effect: EffectSchema,
  ...SubjectColumnsSchema.shape,
  server: z.string(),
  tool: z.string(),
  read_only: FlagSchema,
  description: z.string(),
  ...STAMP_COLUMNS,
});
export type StoredRule = z.infer<typeof StoredRuleSchema>;

const fields = {
  effect: EffectSchema,
  subject: SubjectSchema,
  server: PatternSchema.meta({
    description:
      'Name or id of a server, or a pattern over names; a server that is named here is kept after a rename',
  }),
  tool: PatternSchema.meta({ description: 'Pattern over the names of tools at their server' }),
  read_only: z.boolean().meta({ description: 'Only tools that are annotated read-only' }),
  description: DescriptionSchema,
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

/** Body of `PATCH /api/v1/access/rules/{id}`: absent fields stay as they are. */
export const UpdateRuleSchema = z.strictObject(fields).partial();
export type UpdateRule = z.infer<typeof UpdateRuleSchema>;

/** Filters of the list; an absent filter matches every rule. */
export const RuleQuerySchema = z.strictObject({
  subject_kind: SubjectColumnsSchema.shape.subject_kind.optional(),
  subject: z.string().min(1).max(100).optional().meta({
    description: 'Name of a group, or id of a principal',
  }),
  server: z.string().min(1).max(100).optional().meta({
    description: 'Name or id of a server: rules whose pattern matches it',
  }),
});
export type RuleQuery = z.infer<typeof RuleQuerySchema>;

export const RuleViewSchema = z.object({
  id: z.string(),
  effect: EffectSchema,
  subject: SubjectSchema,
  server: z.string(),
  tool: z.string(),
  read_only: z.boolean(),
  description: z.string(),
  ...STAMP_VIEW,
});

/** Converts a rule to its API form, with its server's current name. */
export function toRuleView(
  rule: StoredRule,
  servers: readonly NamedServer[],
): z.infer<typeof RuleViewSchema> {
  return {
    id: rule.id,
    effect: rule.effect,
    subject: toSubject(rule),
    server: toShownServer(rule.server, servers),
    tool: rule.tool,
    read_only: rule.read_only,
    description: rule.description,
    ...toStampView(rule),
  };
}
