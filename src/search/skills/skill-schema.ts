/** Skills in the API: request bodies and response views. Pure. */
import { z } from 'zod';
import { DescriptionSchema, STAMP_VIEW, toStampView } from '../../records/record-schema.ts';
import {
  MAX_DESCRIPTION_CHARS,
  MAX_EXAMPLE_CHARS,
  MAX_EXAMPLES,
  MAX_NAME_CHARS,
  RESERVED_IDS,
  SKILL_ID,
  SUGGESTION_STATES,
  type Skill,
} from './skill.ts';
import type { StoredSuggestion } from './suggestion-store.ts';
import {
  MAX_SKILLS,
  SOURCES,
  toToolSkills,
  type ToolSkills,
} from '../../servers/registry/tool-skills.ts';
import type { Assignment } from './assignment-store.ts';

export const SkillIdSchema = z
  .string()
  .regex(SKILL_ID, 'use 2 to 63 lower-case letters, digits or "_", starting with a letter')
  .refine(id => !RESERVED_IDS.includes(id), 'is reserved by the API');
const NameSchema = z.string().trim().min(1).max(MAX_NAME_CHARS);
const ShortSchema = DescriptionSchema.max(MAX_DESCRIPTION_CHARS);
const ExamplesSchema = z.array(z.string().min(1).max(MAX_EXAMPLE_CHARS)).max(MAX_EXAMPLES);

/** Body of `POST /api/v1/skills`. */
export const CreateSkillSchema = z.strictObject({
  id: SkillIdSchema.optional().meta({ description: 'Made from the name if absent' }),
  name: NameSchema,
  description: ShortSchema.default(''),
  examples: ExamplesSchema.default([]),
});
export type CreateSkill = z.infer<typeof CreateSkillSchema>;

/** Body of `PATCH /api/v1/skills/{id}`: absent members stay unchanged. */
export const UpdateSkillSchema = z
  .strictObject({ name: NameSchema, description: ShortSchema, examples: ExamplesSchema })
  .partial();
export type UpdateSkill = z.infer<typeof UpdateSkillSchema>;

/** Body of an approval: absent members are taken from the suggestion. */
export const ApproveSuggestionSchema = z.strictObject(UpdateSkillSchema.shape);
export type ApproveSuggestion = z.infer<typeof ApproveSuggestionSchema>;

/** Body of a merge. */
export const MergeSuggestionSchema = z.strictObject({ skill_id: SkillIdSchema });

/** Body of a correction: the first skill is the primary one. */
export const CorrectToolSchema = z.strictObject({
  skill_ids: z
    .array(SkillIdSchema)
    .min(1)
    .max(MAX_SKILLS)
    .refine(ids => new Set(ids).size === ids.length, 'one is given twice'),
});

export const SkillViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  examples: z.array(z.string()),
  is_seeded: z.boolean().meta({ description: 'It came with the product' }),
  tool_count: z.number().int().meta({ description: 'Tools in it that this token may use' }),
  ...STAMP_VIEW,
});

export function toSkillView(skill: Skill, toolCount: number): z.infer<typeof SkillViewSchema> {
  const { id, name, description, examples, is_seeded } = skill;
  return {
    id,
    name,
    description,
    examples,
    is_seeded,
    tool_count: toolCount,
    ...toStampView(skill),
  };
}

/** The skills of a tool in its list entry. */
export const SKILL_FIELDS = {
  skill_ids: z.array(z.string()).meta({ description: 'One to three, the best fit first' }),
  primary_skill_id: z
    .string()
    .nullable()
    .meta({ description: 'The first, if its confidence is at least 0.5' }),
  is_classified: z.boolean(),
};

export function toSkillFields(skills: ToolSkills | undefined) {
  return {
    skill_ids: skills?.skills.map(({ id }) => id) ?? [],
    primary_skill_id: skills?.primary ?? null,
    is_classified: skills?.isClassified ?? false,
  };
}

/** A tool's skills, as administrators see them. */
export const AssignmentViewSchema = z.object({
  tool: z.string().meta({ description: 'The name at its server' }),
  skills: z.array(z.object({ id: z.string(), confidence: z.number() })),
  primary_skill_id: z.string().nullable(),
  is_classified: z.boolean(),
  reason: z.string().nullable().meta({ description: 'Why it is not classified' }),
  source: z.enum(SOURCES),
});

export function toAssignmentView(assignment: Assignment): z.infer<typeof AssignmentViewSchema> {
  const { tool, reason, source } = assignment;
  const { skills, primary, isClassified } = toToolSkills(assignment.skills, source, reason);
  return {
    tool,
    skills: [...skills],
    primary_skill_id: primary ?? null,
    is_classified: isClassified,
    reason: isClassified ? null : reason,
    source,
  };
}

export const SuggestionViewSchema = z.object({
  id: z.string().meta({ description: 'The id that the skill would have' }),
  name: z.string().meta({ description: 'Made from untrusted texts' }),
  description: z.string().meta({ description: 'Made from untrusted texts' }),
  state: z.enum(SUGGESTION_STATES),
  skill_id: z.string().nullable().meta({ description: 'The skill that was made from it' }),
  tools: z
    .array(z.object({ server_id: z.string(), tool: z.string() }))
    .meta({ description: 'The first ten for which it was suggested' }),
  tool_count: z.number().int(),
  similar: z
    .array(z.object({ skill_id: z.string(), similarity: z.number() }))
    .meta({ description: 'Skills whose vectors are nearest' }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** A skill that a suggestion could be merged into. */
export interface Similar {
  skillId: string;
  similarity: number;
}

export function toSuggestionView(
  suggestion: StoredSuggestion,
  similar: readonly Similar[],
): z.infer<typeof SuggestionViewSchema> {
  const { revision: _, ...stamp } = toStampView(suggestion);
  return {
    id: suggestion.id,
    name: suggestion.name,
    description: suggestion.description,
    state: suggestion.state,
    skill_id: suggestion.skill_id,
    tools: suggestion.tools,
    tool_count: suggestion.tool_count,
    similar: similar.map(each => ({ skill_id: each.skillId, similarity: each.similarity })),
    ...stamp,
  };
}
