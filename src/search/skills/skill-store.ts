/** The table `skills` and the revision of the taxonomy. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf, type EditedTable } from '../../records/record-store.ts';
import { MAX_SKILLS_IN_TAXONOMY, SkillSchema, type Skill, type Taxonomy } from './skill.ts';

const whenNameFree = ({ id, name }: Skill): Condition => ({
  sql: 'NOT EXISTS (SELECT 1 FROM skills WHERE name = ? COLLATE NOCASE AND id <> ?)',
  params: [name, id],
});

/** Holds where neither id nor name is taken and there is room for another skill. */
export const whenSkillPossible = (skill: Skill): Condition =>
  allOf(whenNameFree(skill), {
    sql: `NOT EXISTS (SELECT 1 FROM skills WHERE id = ?)
      AND (SELECT count(*) FROM skills) < ${MAX_SKILLS_IN_TAXONOMY}`,
    params: [skill.id],
  });

export const SKILLS: EditedTable<Skill> = {
  name: 'skills',
  row: SkillSchema,
  edited: ['name', 'description', 'examples', 'updated_at'],
  whenPossible: whenSkillPossible,
  whenEditable: whenNameFree,
  remove: deleteSkill,
};

/** Loads all skills, ordered by id, and the taxonomy's revision, in one consistent read. */
export async function loadTaxonomy(db: D1Database): Promise<Taxonomy> {
  const [revision, skills] = await db.batch([
    db.prepare('SELECT revision FROM taxonomy'),
    db.prepare('SELECT * FROM skills ORDER BY id'),
  ]);
  return {
    revision: z.object({ revision: z.number() }).parse(revision?.results[0]).revision,
    skills: (skills?.results ?? []).map(row => SkillSchema.parse(row)),
  };
}

/** Returns the id of the skill with this id, else of the one with this name; the argument itself where there is none. */
export async function loadSkillId(db: D1Database, named: string): Promise<string> {
  const found = await db
    .prepare(
      'SELECT id FROM skills WHERE id = ?1 OR name = ?1 COLLATE NOCASE ORDER BY id = ?1 DESC LIMIT 1',
    )
    .bind(named)
    .first<{ id: string }>();
  return found?.id ?? named;
}

/** Holds where all of these skills exist. */
export const whenSkills = (ids: readonly string[]): Condition => ({
  sql: '(SELECT count(*) FROM skills WHERE id IN (SELECT value FROM json_each(?))) = ?',
  params: [JSON.stringify(ids), new Set(ids).size],
});

/** Deletes a skill. Its tools keep their other skills; a tool left with none, even one corrected by hand, loses its row. */
function deleteSkill(db: D1Database, id: string): D1PreparedStatement[] {
  const IN_IT = 'EXISTS (SELECT 1 FROM json_each(tool_skills.skills) WHERE value ->> 0 = ?1)';
  return [
    db
      .prepare(
        `UPDATE servers SET skills_revision = skills_revision + 1
         WHERE id IN (SELECT server_id FROM tool_skills WHERE ${IN_IT})`,
      )
      .bind(id),
    db
      .prepare(
        `UPDATE tool_skills SET skills = (SELECT json_group_array(json(value)) FROM json_each(tool_skills.skills) WHERE value ->> 0 <> ?1)
         WHERE ${IN_IT}`,
      )
      .bind(id),
    db.prepare(`DELETE FROM tool_skills WHERE skills = '[]' AND is_classified = 1`),
    db.prepare('DELETE FROM skill_members WHERE skill_id = ?').bind(id),
    db.prepare('DELETE FROM skills WHERE id = ?').bind(id),
  ];
}
