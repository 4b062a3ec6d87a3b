/**
 * Skills of tools for the request path: from the isolate's memory while the server's row has the same `skills_revision`; the others are
 * read in one statement. Every write increments that revision in its own batch, so a cached value is never older than the row.
 */
import { Lru } from '../../shared/util/lru.ts';
import { loadServerSkills } from './assignment-store.ts';
import type { ServerSkills, SkillsOf } from '../../servers/registry/tool-skills.ts';

/** Most servers cached. */
const MAX_SERVERS = 1_000;

const NONE: ServerSkills = new Map();

/** Creates a reader with its own cache: one per isolate. */
export function createKnownSkills(db: D1Database): SkillsOf {
  const held = new Lru<string, { revision: number; skills: ServerSkills }>(MAX_SERVERS);
  return async servers => {
    const found = new Map<string, ServerSkills>();
    const unknown = new Map<string, number>();
    for (const { id, skillsRevision: revision } of servers) {
      const known = held.get(id);
      if (revision === 0) found.set(id, NONE);
      else if (known?.revision === revision) found.set(id, known.skills);
      else unknown.set(id, revision);
    }
    if (unknown.size === 0) return found;
    for (const [id, skills] of await loadServerSkills(db, [...unknown.keys()])) {
      found.set(id, skills);
      held.set(id, { revision: unknown.get(id) ?? 0, skills });
    }
    return found;
  };
}
