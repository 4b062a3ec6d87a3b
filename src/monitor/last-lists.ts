/**
 * Lists of the last catalog in place of those that a look could not read, so that a server whose one list fails loses nothing
 * else, and of that list nothing that was there. Pure.
 */
import type { Looked } from '../upstream/discovery/discover.ts';
import { rawElements, rawMembers } from '../shared/json/json-spans.ts';
import type { Conditions, ListTtls } from '../servers/catalog/catalog.ts';

/** @param last text of the server's last catalog; without one the lists stay empty */
export function withLastLists(looked: Looked, last: string | undefined): Looked {
  if (looked.failed.length === 0 || last === undefined) return looked;
  const members = rawMembers(last);
  const ttls = JSON.parse(members.get('ttlMs') ?? '{}') as ListTtls;
  const items = { ...looked.items };
  const conditions = { ...looked.conditions };
  const lastConditions = JSON.parse(members.get('conditions') ?? '{}') as Conditions;
  const ttlMs = { ...looked.ttlMs };
  for (const { kind } of looked.failed) {
    items[kind] = rawElements(members.get(kind) ?? '[]');
    const conditioned = lastConditions[kind];
    if (conditioned) conditions[kind] = conditioned;
    if (ttls[kind] !== undefined) ttlMs[kind] = ttls[kind];
  }
  const hasAny = Object.keys(conditions).length > 0;
  return { ...looked, items, ttlMs, conditions: hasAny ? conditions : undefined };
}
