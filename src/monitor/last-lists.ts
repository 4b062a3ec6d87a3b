/**
 * Lists of the last catalog in place of those that a look could not read, so that a server whose one list fails loses nothing
 * else, and of that list nothing that was there. Pure.
 */
import type { DiscoveryResult } from '../upstream/discovery/discover.ts';
import { rawElements, rawMembers } from '../shared/json/json-spans.ts';
import type { Conditions, ListTtls } from '../servers/catalog/catalog.ts';

/** @param last text of the server's last catalog; without one the lists stay empty */
export function withLastLists(
  discovery: DiscoveryResult,
  last: string | undefined,
): DiscoveryResult {
  if (discovery.failed.length === 0 || last === undefined) return discovery;
  const members = rawMembers(last);
  const ttls = JSON.parse(members.get('ttlMs') ?? '{}') as ListTtls;
  const items = { ...discovery.items };
  const conditions = { ...discovery.conditions };
  const lastConditions = JSON.parse(members.get('conditions') ?? '{}') as Conditions;
  const ttlMs = { ...discovery.ttlMs };
  for (const { kind } of discovery.failed) {
    items[kind] = rawElements(members.get(kind) ?? '[]');
    const conditioned = lastConditions[kind];
    if (conditioned) conditions[kind] = conditioned;
    if (ttls[kind] !== undefined) ttlMs[kind] = ttls[kind];
  }
  const hasAny = Object.keys(conditions).length > 0;
  return { ...discovery, items, ttlMs, conditions: hasAny ? conditions : undefined };
}
