/**
 * Suggested skills: lists them with the nearest existing skills; approves, merges or rejects them. Each decision is one audited change. A
 * suggestion derives from untrusted texts and becomes a skill only by an administrator's approval.
 */
import type { Caller } from '../../access/policy/caller.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import {
  allOf,
  insertRecord,
  listRecords,
  updateRecord,
  whenUnchanged,
  whereEqual,
} from '../../records/record-store.ts';
import type { RecordPage, RecordPosition } from '../../records/record-schema.ts';
import { requireRecord } from '../../records/records.ts';
import type { Embedding } from '../text/embedding.ts';
import { loadMembers } from './member-store.ts';
import { MAX_EXAMPLE_CHARS, MAX_EXAMPLES, type Skill, type SuggestionState } from './skill.ts';
import { NO_SKILL, taken, toNewSkill } from './skill-service.ts';
import type { ApproveSuggestion, Similar } from './skill-schema.ts';
import { loadTaxonomy, SKILLS, whenSkillPossible } from './skill-store.ts';
import { cosine, toSkillVector } from './skill-vectors.ts';
import {
  decideSuggestion,
  SUGGESTIONS,
  whenDecided,
  whenPending,
  type Decision,
  type StoredSuggestion,
} from './suggestion-store.ts';

export interface SuggestionPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  embedding(): Promise<Embedding>;
  invalidateRegistry(): void;
}

/** Most similar skills shown per suggestion. */
const MAX_SIMILAR = 3;

export interface SuggestionPage extends RecordPage<StoredSuggestion> {
  /** The similar skills of each suggestion of the page, by its id. */
  similar: ReadonlyMap<string, readonly Similar[]>;
}

export class SuggestionService {
  readonly #ports: SuggestionPorts;

  constructor(ports: SuggestionPorts) {
    this.#ports = ports;
  }

  /** Lists one page, newest first. @throws PorticoError `forbidden` */
  async list(
    caller: Caller,
    state: SuggestionState | undefined,
    limit: number,
    after?: RecordPosition,
  ): Promise<SuggestionPage> {
    requireScope(caller, 'servers:write');
    const page = await listRecords(
      this.#ports.db,
      SUGGESTIONS,
      whereEqual({ state }),
      limit,
      after,
    );
    return { ...page, similar: await this.#similar(page.items) };
  }

  /**
   * Makes a skill of a suggestion.
   * @throws PorticoError `forbidden`, `not_found`, `conflict` where it was decided already or the skill exists
   */
  approve(caller: Caller, id: string, given: ApproveSuggestion): Promise<Skill> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const act = { action: 'skill_suggestion.approve', subject: id };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const suggested = await this.#pending(id);
      const { name = suggested.name, description = suggested.description, examples = [] } = given;
      const now = Date.now();
      const stamp = { revision: 1, created_at: now, updated_at: now };
      const skill = toNewSkill({ id, name, description, examples }, stamp);
      const decision: Decision = { id, state: 'approved', skillId: id, at: now };
      const whenPossible = whenSkillPossible(skill);
      const when = allOf(whenPending(id), whenPossible);
      const isDone = await commit({
        when,
        // The skill comes second: the condition no longer holds once it is written.
        statements: [
          ...decideSuggestion(db, decision, when),
          insertRecord(db, SKILLS, skill, allOf(whenDecided(decision), whenPossible)),
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
   * Merges a suggestion into an existing skill: its name becomes one of that skill's examples.
   * @throws PorticoError `forbidden`, `not_found`, `conflict` where it was decided already, `busy`
   */
  merge(caller: Caller, id: string, skillId: string): Promise<Skill> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const act = { action: 'skill_suggestion.merge', subject: id };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const { name } = await this.#pending(id);
      const before = await requireRecord(db, { table: SKILLS, missing: NO_SKILL }, skillId);
      const now = Date.now();
      const skill = { ...before, examples: withExample(before.examples, name), updated_at: now };
      const decision: Decision = { id, state: 'merged', skillId, at: now };
      const whenSame = whenUnchanged(SKILLS, skill);
      const when = allOf(whenPending(id), whenSame);
      const isDone = await commit({
        when,
        statements: [
          ...decideSuggestion(db, decision, when),
          updateRecord(db, SKILLS, skill, allOf(whenDecided(decision), whenSame)),
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

  /**
   * Rejects a suggestion; it is not suggested again. @throws PorticoError `forbidden`, `not_found`, `conflict` where it was decided already
   */
  reject(caller: Caller, id: string): Promise<void> {
    const { db, adminAudit } = this.#ports;
    const act = { action: 'skill_suggestion.reject', subject: id };
    return adminAudit.perform(caller, 'servers:write', act, async commit => {
      const { name } = await this.#pending(id);
      const decision: Decision = { id, state: 'rejected', skillId: null, at: Date.now() };
      const when = whenPending(id);
      const isDone = await commit({
        when,
        statements: decideSuggestion(db, decision, when),
        detail: { name },
      });
      if (!isDone) throw decided();
    });
  }

  async #pending(id: string): Promise<StoredSuggestion> {
    const kind = { table: SUGGESTIONS, missing: 'No such suggestion' };
    const suggestion = await requireRecord(this.#ports.db, kind, id);
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

/** Appends an example; beyond the limit the oldest are dropped. */
const withExample = (examples: readonly string[], name: string): string[] =>
  [...examples.filter(example => example !== name), name.slice(0, MAX_EXAMPLE_CHARS)].slice(
    -MAX_EXAMPLES,
  );

const decided = () => new PorticoError('conflict', 'It was already decided on');
