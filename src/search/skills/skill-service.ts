/**
 * The taxonomy: creates, edits and deletes skills. Each edit increments the taxonomy's revision, and the servers' monitors classify again
 * in their next cycles.
 */
import { ALWAYS } from '../../audit/admin-audit.ts';
import { patched, type Stamp } from '../../records/record-schema.ts';
import {
  createEditedRecords,
  type EditedRecords,
  type RecordPorts,
} from '../../records/records.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { requireScope, type Actor } from '../../shared/identity/principal.ts';
import type { CreateSkill, UpdateSkill } from './skill-schema.ts';
import { loadTaxonomy, SKILLS } from './skill-store.ts';
import { MAX_SKILLS_IN_TAXONOMY, SKILL_SCOPES, toSkillId, type Skill } from './skill.ts';

export interface SkillPorts extends RecordPorts {
  /** Discards this isolate's cached registry. */
  invalidateRegistry(): void;
}

export interface Skills extends EditedRecords<Skill, CreateSkill, object, UpdateSkill> {
  /** Lists all skills, ordered by id. @throws PorticoError `forbidden` */
  listAll(caller: Actor): Promise<readonly Skill[]>;
}

export const NO_SKILL = 'No such skill';

export function createSkills({ db, adminAudit, invalidateRegistry }: SkillPorts): Skills {
  return {
    ...createEditedRecords<Skill, CreateSkill, object, UpdateSkill>(
      { db, adminAudit },
      {
        table: SKILLS,
        noun: 'skill',
        missing: NO_SKILL,
        scopes: SKILL_SCOPES,
        onChanged: invalidateRegistry,
        filter: () => ALWAYS,
        idOf: ({ id, name }) => id ?? toSkillId(name) ?? name,
        make: (body, _servers, stamp) => toNewSkill(body, stamp),
        /** Renaming a skill of the default taxonomy makes it another skill: its trained scores no longer apply. */
        edit: (before, patch) => patched(before, patch),
        whyNot: taken,
        toDetail: ({ name }) => ({ name }),
        toEditDetail: (_skill, patch) => ({ fields: Object.keys(patch).toSorted() }),
      },
    ),

    async listAll(caller) {
      requireScope(caller, SKILL_SCOPES.read);
      return (await loadTaxonomy(db)).skills;
    },
  };
}

/** @throws PorticoError `validation_failed` where the name gives no id */
export function toNewSkill(
  { id, name, description, examples }: CreateSkill,
  stamp: Omit<Stamp, 'id'>,
): Skill {
  const own = id ?? toSkillId(name);
  if (own === undefined)
    throw fieldProblem('id', 'is needed, since none can be made from the name');
  return { ...stamp, id: own, name, description, examples, is_seeded: false };
}

export const taken = ({ id, name }: Pick<Skill, 'id' | 'name'>) =>
  new PorticoError(
    'conflict',
    `A skill ${id} or one named ${name} exists already, or there are ${MAX_SKILLS_IN_TAXONOMY}, the most there can be`,
  );
