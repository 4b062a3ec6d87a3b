/** The table `skills` and the count of its edits. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { MAX_SKILLS_IN_TAXONOMY, type Skill, type Taxonomy } from './skill.ts';

const RowSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    examples: z.string(),
    is_seeded: z.number(),
    revision: z.number(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .transform((row): Skill => ({
    id: row.id,
    name: row.name,
    description: row.description,
    examples: z.array(z.string()).parse(JSON.parse(row.examples)),
    isSeeded: row.is_seeded === 1,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));

/** All skills in the order of their ids, and how often they were edited: of one moment. */
export async function loadTaxonomy(db: D1Database): Promise<Taxonomy> {
  const [revision, skills] = await db.batch([
    db.prepare('SELECT revision FROM taxonomy'),
    db.prepare('SELECT * FROM skills ORDER BY id'),
  ]);
  return {
    revision: z.object({ revision: z.number() }).parse(revision?.results[0]).revision,
    skills: (skills?.results ?? []).map(row => RowSchema.parse(row)),
  };
}

/** One skill, or undefined. */
export async function findSkill(db: D1Database, id: string): Promise<Skill | undefined> {
  const row = await db.prepare('SELECT * FROM skills WHERE id = ?').bind(id).first();
  return row === null ? undefined : RowSchema.parse(row);
}

const NAME_IS_FREE = 'NOT EXISTS (SELECT 1 FROM skills WHERE name = ? COLLATE NOCASE AND id <> ?)';

/** Neither its id nor its name is taken, and there is room for it. */
export function whenSkillPossible({ id, name }: Pick<Skill, 'id' | 'name'>): Condition {
  return {
    sql: `NOT EXISTS (SELECT 1 FROM skills WHERE id = ?) AND ${NAME_IS_FREE}
      AND (SELECT count(*) FROM skills) < ${MAX_SKILLS_IN_TAXONOMY}`,
    params: [id, name, id],
  };
}

/** The skill is still at this revision, and its name is free. */
export function whenSkillUnchanged({ id, name, revision }: Skill): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM skills WHERE id = ? AND revision = ?) AND ${NAME_IS_FREE}`,
    params: [id, revision, name, id],
  };
}

/** All of these skills exist. */
export function whenSkills(ids: readonly string[]): Condition {
  return {
    sql: '(SELECT count(*) FROM skills WHERE id IN (SELECT value FROM json_each(?))) = ?',
    params: [JSON.stringify(ids), new Set(ids).size],
  };
}

/** Insert a skill where it is possible. */
export function insertSkill(db: D1Database, skill: Skill, when: Condition): D1PreparedStatement {
  const { id, name, description, examples, isSeeded, revision, createdAt, updatedAt } = skill;
  return db
    .prepare(
      `INSERT INTO skills (id, name, description, examples, is_seeded, revision, created_at, updated_at)
       SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE ${when.sql}`,
    )
    .bind(
      id,
      name,
      description,
      JSON.stringify(examples),
      isSeeded ? 1 : 0,
      revision,
      createdAt,
      updatedAt,
      ...when.params,
    );
}

/** Write an edit over the revision it was made of. */
export function updateSkill(db: D1Database, skill: Skill, when: Condition): D1PreparedStatement {
  const { id, name, description, examples, updatedAt } = skill;
  return db
    .prepare(
      `UPDATE skills SET name = ?, description = ?, examples = ?, updated_at = ?, revision = revision + 1
       WHERE id = ? AND ${when.sql}`,
    )
    .bind(name, description, JSON.stringify(examples), updatedAt, id, ...when.params);
}

/** Delete a skill: tools that were in it are in the others they have left, and corrections that named it alone are none any more. */
export function deleteSkill(db: D1Database, id: string): D1PreparedStatement[] {
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
