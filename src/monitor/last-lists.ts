/**
 * Replaces the lists that a discovery could not read by those of the last catalog, so that one failing list costs a server neither its
 * other lists nor the former items of that list. Pure.
 */
import type { DiscoveryResult } from '../upstream/discovery/discover.ts';
import { rawElements, rawMembers } from '../shared/json/json-spans.ts';
import type { Conditions, Kind, ListTtls } from '../servers/catalog/catalog.ts';

/** Returns the items in the text of a catalog: raw JSON, by kind. */
export function itemsOf(text: string): Record<Kind, readonly string[]> {
  const members = rawMembers(text);
  const of = (kind: Kind) => rawElements(members.get(kind) ?? '[]');
  return {
    tools: of('tools'),
    resources: of('resources'),
    resourceTemplates: of('resourceTemplates'),
    prompts: of('prompts'),
  };
}

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
