/** A skill of the taxonomy, and the taxonomy as a classifier sees it. Pure. */
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
  /** Short texts of what belongs to it. */
  examples: jsonOf(z.array(z.string())),
  /** It came with the product. */
  is_seeded: FlagSchema,
  ...STAMP_COLUMNS,
});
export type Skill = z.infer<typeof SkillSchema>;

/** All skills, in the order of their ids, at a moment. */
export interface Taxonomy {
  revision: number;
  skills: readonly Skill[];
}

/** What becomes of a skill that was suggested. */
export const SUGGESTION_STATES = ['pending', 'approved', 'merged', 'rejected'] as const;
export type SuggestionState = (typeof SUGGESTION_STATES)[number];

/** Most skills of a deployment: a model reads them all with each question. */
export const MAX_SKILLS_IN_TAXONOMY = 200;
export const MAX_NAME_CHARS = 80;
export const MAX_DESCRIPTION_CHARS = 500;
export const MAX_EXAMPLES = 20;
export const MAX_EXAMPLE_CHARS = 120;

/** What is in the path of the API where an id could be. */
export const RESERVED_IDS: readonly string[] = ['suggestions'];
/** The form of an id. */
export const SKILL_ID = /^[a-z][a-z0-9_]{1,62}$/;

/** The id that a name becomes; undefined where nothing of it can be in one. */
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
