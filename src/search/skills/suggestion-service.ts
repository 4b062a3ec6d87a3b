/**
 * Skills that were suggested: shown with the skills that are nearest, and approved, merged or rejected. Each decision is one act. What was
 * suggested comes of untrusted texts: it becomes a skill only as an administrator lets it.
 */
import type { Caller } from '../../access/policy/caller.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import { parseTotal } from '../../servers/registry/server-list-store.ts';
import type { Embedding } from '../text/embedding.ts';
import { loadMembers } from './member-store.ts';
import { MAX_EXAMPLE_CHARS, MAX_EXAMPLES, type Skill, type SuggestionState } from './skill.ts';
import { noSkill, taken, toNewSkill } from './skill-service.ts';
import type { ApproveSuggestion, Similar } from './skill-schema.ts';
import {
  findSkill,
  insertSkill,
  loadTaxonomy,
  updateSkill,
  whenSkillPossible,
  whenSkillUnchanged,
} from './skill-store.ts';
import { cosine, toSkillVector } from './skill-vectors.ts';
import {
  decideSuggestion,
  findSuggestion,
  parseSuggestions,
  selectSuggestionPage,
  selectSuggestionTotal,
  whenPending,
  type StoredSuggestion,
} from './suggestion-store.ts';

export interface SuggestionPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  embedding(): Promise<Embedding>;
  invalidateRegistry(): void;
}

/** Most skills that a suggestion is told to be like. */
const MAX_SIMILAR = 3;

export interface SuggestionPage extends ListPage<StoredSuggestion> {
  total: number;
  /** Of each suggestion of the page, by its id. */
  similar: ReadonlyMap<string, readonly Similar[]>;
}

export class SuggestionService {
  readonly #ports: SuggestionPorts;

  constructor(ports: SuggestionPorts) {
    this.#ports = ports;
  }

  /** One page, the newest first. @throws PorticoError `forbidden` */
  async list(
    caller: Caller,
    state: SuggestionState | undefined,
    limit: number,
    after?: { createdAt: number; id: string },
  ): Promise<SuggestionPage> {
    requireScope(caller, 'servers:write');
    const { db } = this.#ports;
    const [page, total] = await db.batch([
      selectSuggestionPage(db, state, after, limit + 1),
      selectSuggestionTotal(db, state),
    ]);
    const found = toListPage(parseSuggestions(page?.results ?? []), limit, ({ createdAt, id }) => [
      createdAt,
      id,
    ]);
    return {
      ...found,
      total: parseTotal(total?.results ?? []),
      similar: await this.#similar(found.items),
    };
  }

  /**
   * Make a skill of a suggestion.
   * @throws PorticoError `forbidden`, `not_found`, `conflict` where it was decided on, or the skill exists
   */
  approve(caller: Caller, id: string, given: ApproveSuggestion): Promise<Skill> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const act = { action: 'skill_suggestion.approve', subject: id };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const suggested = await this.#pending(id);
      const { name = suggested.name, description = suggested.description, examples = [] } = given;
      const now = Date.now();
      const skill = toNewSkill({ id, name, description, examples }, now);
      const possible = whenSkillPossible(skill);
      const pending = whenPending(id);
      const when = {
        sql: `${pending.sql} AND ${possible.sql}`,
        params: [...pending.params, ...possible.params],
      };
      const isDone = await commit({
        when,
        statements: [
          insertSkill(db, skill, when),
          ...decideSuggestion(db, id, 'approved', id, now),
        ],
        detail: { name: skill.name },
      });
      if (!isDone) {
        await this.#pending(id);
        throw taken(skill);
      }
      invalidateRegistry();
      return skill;
    });
  }

  /**
   * A suggestion is a skill there is: its name becomes one of that skill's examples.
   * @throws PorticoError `forbidden`, `not_found`, `conflict` where it was decided on, `busy`
   */
  merge(caller: Caller, id: string, skillId: string): Promise<Skill> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const act = { action: 'skill_suggestion.merge', subject: id };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const { name } = await this.#pending(id);
      const before = await findSkill(db, skillId);
      if (!before) throw noSkill();
      const now = Date.now();
      const skill = { ...before, examples: withExample(before.examples, name), updatedAt: now };
      const pending = whenPending(id);
      const unchanged = whenSkillUnchanged(skill);
      const when = {
        sql: `${pending.sql} AND ${unchanged.sql}`,
        params: [...pending.params, ...unchanged.params],
      };
      const isDone = await commit({
        when,
        statements: [
          updateSkill(db, skill, when),
          ...decideSuggestion(db, id, 'merged', skillId, now),
        ],
        detail: { skill: skillId },
      });
      if (!isDone) {
        await this.#pending(id);
        throw new PorticoError('busy', 'The skill was changed meanwhile; try again');
      }
      invalidateRegistry();
      return { ...skill, revision: skill.revision + 1 };
    });
  }

  /** It does not come back. @throws PorticoError `forbidden`, `not_found`, `conflict` where it was decided on */
  reject(caller: Caller, id: string): Promise<void> {
    const { db, adminAudit } = this.#ports;
    const act = { action: 'skill_suggestion.reject', subject: id };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const { name } = await this.#pending(id);
      const isDone = await commit({
        when: whenPending(id),
        statements: decideSuggestion(db, id, 'rejected', null, Date.now()),
        detail: { name },
      });
      if (!isDone) throw decided();
    });
  }

  async #pending(id: string): Promise<StoredSuggestion> {
    const suggestion = await findSuggestion(this.#ports.db, id);
    if (!suggestion) throw new PorticoError('not_found', 'No such suggestion');
    if (suggestion.state !== 'pending') throw decided();
    return suggestion;
  }

  async #similar(
    suggestions: readonly StoredSuggestion[],
  ): Promise<ReadonlyMap<string, readonly Similar[]>> {
    if (suggestions.length === 0) return new Map();
    const { db } = this.#ports;
    const [embedding, taxonomy, members] = await Promise.all([
      this.#ports.embedding(),
      loadTaxonomy(db),
      loadMembers(db),
    ]);
    const vectors = taxonomy.skills.map(
      skill => [skill.id, toSkillVector(skill, members.get(skill.id) ?? [], embedding)] as const,
    );
    return new Map(
      suggestions.map(({ id, name, description }) => {
        const own = embedding.embed(`${name} ${description}`);
        const near = vectors.map(([skillId, vector]) => ({
          skillId,
          similarity: Math.round(cosine(own, vector) * 1_000) / 1_000,
        }));
        return [
          id,
          near.toSorted((a, b) => b.similarity - a.similarity).slice(0, MAX_SIMILAR),
        ] as const;
      }),
    );
  }
}

/** The newest example last; the oldest makes room for it. */
const withExample = (examples: readonly string[], name: string): string[] =>
  [...examples.filter(example => example !== name), name.slice(0, MAX_EXAMPLE_CHARS)].slice(
    -MAX_EXAMPLES,
  );

const decided = () => new PorticoError('conflict', 'It was decided on already');
