/**
 * Skills of tools for the request path: from the isolate's memory while the server's row has the same revision of them, else read for
 * all servers that need it in one statement. A write moves that revision in its own batch, so what is remembered is never older.
 */
import { Lru } from '../../shared/util/lru.ts';
import { loadServerSkills } from './assignment-store.ts';
import type { ServerSkills, SkillsOf } from '../../servers/registry/tool-skills.ts';

/** Most servers that are remembered. */
const MAX_SERVERS = 1_000;

const NONE: ServerSkills = new Map();

/** A reader with a memory of its own: one for each isolate. */
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
