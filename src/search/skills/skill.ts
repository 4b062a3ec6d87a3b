/** A skill of the taxonomy, and the taxonomy that classifiers use. Pure. */
import { z } from 'zod';
import {
  FlagSchema,
  jsonOf,
  STAMP_COLUMNS,
  type RecordScopes,
} from '../../records/record-schema.ts';
import { withoutEnd } from '../../shared/util/without-end.ts';

export const SKILL_SCOPES: RecordScopes = { read: 'tools:read', write: 'servers:write' };

/** A row of `skills`; times in milliseconds since the epoch. */
export const SkillSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  /** Short texts that exemplify the skill. */
  examples: jsonOf(z.array(z.string())),
  /** Whether it came with the product. */
  is_seeded: FlagSchema,
  ...STAMP_COLUMNS,
});
export type Skill = z.infer<typeof SkillSchema>;

/** All skills at one moment, ordered by id. */
export interface Taxonomy {
  revision: number;
  skills: readonly Skill[];
}

/** Outcomes of a suggested skill. */
export const SUGGESTION_STATES = ['pending', 'approved', 'merged', 'rejected'] as const;
export type SuggestionState = (typeof SUGGESTION_STATES)[number];

/** Most skills of a deployment; a model reads all of them with each request. */
export const MAX_SKILLS_IN_TAXONOMY = 200;
export const MAX_NAME_CHARS = 80;
export const MAX_DESCRIPTION_CHARS = 500;
export const MAX_EXAMPLES = 20;
export const MAX_EXAMPLE_CHARS = 120;

/** Path segments of the API that stand where an id could. */
export const RESERVED_IDS: readonly string[] = ['suggestions'];
/** Pattern of an id. */
export const SKILL_ID = /^[a-z][a-z0-9_]{1,62}$/;

/** Derives an id from a name; undefined where no valid id results. */
export function toSkillId(name: string): string | undefined {
  const words =
    name
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const begun = words.join('_').replace(/^[0-9_]+/, '');
  const id = withoutEnd(begun.slice(0, 63), '_');
  return SKILL_ID.test(id) && !RESERVED_IDS.includes(id) ? id : undefined;
}
