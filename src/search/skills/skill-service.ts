/**
 * The taxonomy: create, read, edit, delete skills. Each verb that writes is one act with its audit row. An edit is counted, and the monitors
 * of the servers classify anew in their next rounds.
 */
import type { Caller } from '../../access/policy/caller.ts';
import { editRecord } from '../../records/edit-with-revision.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { MAX_SKILLS_IN_TAXONOMY, toSkillId, type Skill } from './skill.ts';
import type { CreateSkill, UpdateSkill } from './skill-schema.ts';
import {
  deleteSkill,
  findSkill,
  insertSkill,
  loadTaxonomy,
  updateSkill,
  whenSkillPossible,
  whenSkills,
  whenSkillUnchanged,
} from './skill-store.ts';

export interface SkillPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  /** What an isolate remembers of the registry is too old. */
  invalidateRegistry(): void;
}

export class SkillService {
  readonly #ports: SkillPorts;

  constructor(ports: SkillPorts) {
    this.#ports = ports;
  }

  /** All skills, in the order of their ids. @throws PorticoError `forbidden` */
  async list(caller: Caller): Promise<readonly Skill[]> {
    requireScope(caller, 'tools:read');
    return (await loadTaxonomy(this.#ports.db)).skills;
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Caller, id: string): Promise<Skill> {
    requireScope(caller, 'tools:read');
    return this.#find(id);
  }

  /** @throws PorticoError `forbidden`, `validation_failed`, `conflict` */
  create(caller: Caller, input: CreateSkill): Promise<Skill> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const subject = input.id ?? toSkillId(input.name) ?? input.name;
    const act = { action: 'skill.create', subject };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const skill = toNewSkill(input, Date.now());
      const when = whenSkillPossible(skill);
      const isDone = await commit({
        when,
        statements: [insertSkill(db, skill, when)],
        detail: { name: skill.name },
      });
      if (!isDone) throw taken(skill);
      invalidateRegistry();
      return skill;
    });
  }

  /**
   * Edit a skill. One of the default taxonomy that gets another name is another skill: what it was trained on no longer counts.
   * @param ifRevision refuse where it is at another revision
   * @throws PorticoError `forbidden`, `not_found`, `conflict`, `precondition_failed`
   */
  update(caller: Caller, id: string, patch: UpdateSkill, ifRevision?: number): Promise<Skill> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const act = { action: 'skill.update', subject: id };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const find = () => this.#find(id);
      const after = await editRecord(find, ifRevision, async before => {
        const { name = before.name, description = before.description } = patch;
        const { examples = before.examples } = patch;
        const skill = { ...before, name, description, examples, updatedAt: Date.now() };
        const when = whenSkillUnchanged(skill);
        const isDone = await commit({
          when,
          statements: [updateSkill(db, skill, when)],
          detail: { fields: Object.keys(patch).toSorted() },
        });
        if (!isDone && (await find()).revision === before.revision) throw taken(skill);
        return isDone;
      });
      invalidateRegistry();
      return after;
    });
  }

  /** Delete a skill; tools that were in no other are classified anew. @throws PorticoError `forbidden`, `not_found` */
  delete(caller: Caller, id: string): Promise<void> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const act = { action: 'skill.delete', subject: id };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const { name } = await this.#find(id);
      const isDone = await commit({
        when: whenSkills([id]),
        statements: deleteSkill(db, id),
        detail: { name },
      });
      if (!isDone) throw noSkill();
      invalidateRegistry();
    });
  }

  async #find(id: string): Promise<Skill> {
    const skill = await findSkill(this.#ports.db, id);
    if (!skill) throw noSkill();
    return skill;
  }
}

/** @throws PorticoError `validation_failed` where the name gives no id */
export function toNewSkill({ id, name, description, examples }: CreateSkill, now: number): Skill {
  const own = id ?? toSkillId(name);
  if (own === undefined) throw fieldProblem('id', 'is needed, since the name gives none');
  const times = { createdAt: now, updatedAt: now };
  return { id: own, name, description, examples, isSeeded: false, revision: 1, ...times };
}

export const noSkill = () => new PorticoError('not_found', 'No such skill');
export const taken = ({ id, name }: Pick<Skill, 'id' | 'name'>) =>
  new PorticoError(
    'conflict',
    `A skill ${id} or one named ${name} exists already, or there are ${MAX_SKILLS_IN_TAXONOMY}, the most there can be`,
  );
