/**
 * Replaces the lists that a discovery could not read by those of the last catalog, so that one failing list costs a server neither its
 * other lists nor the former items of that list. Pure.
 */
import { MAX_CATALOG_BYTES, type DiscoveryResult } from '../upstream/discovery/discover.ts';
import { rawElements, rawMembers } from '../shared/json/json-spans.ts';
import type { Conditions, Kind, ListTtls } from '../servers/catalog/catalog.ts';
import type { ServerProtocol } from '../servers/registry/server-schema.ts';
import type { JsonObject } from '../shared/protocol.ts';

/** Returns the items in the text of a catalog: raw JSON, by kind. */
export function itemsOf(text: string): Record<Kind, string[]> {
  const members = rawMembers(text);
  const of = (kind: Kind) => rawElements(members.get(kind) ?? '[]');
  return {
    tools: of('tools'),
    resources: of('resources'),
    resourceTemplates: of('resourceTemplates'),
    prompts: of('prompts'),
  };
}

/** Returns the text of a catalog as the discovery that it was made of. */
export function toDiscovery(text: string, verdict: ServerProtocol): DiscoveryResult {
  const members = rawMembers(text);
  const of = <T>(name: string) => {
    const value = members.get(name);
    return value === undefined ? undefined : (JSON.parse(value) as T);
  };
  return {
    items: itemsOf(text),
    ttlMs: of<ListTtls>('ttlMs') ?? {},
    warning: null,
    failed: [],
    verdict,
    capabilities: of<JsonObject>('capabilities') ?? {},
    instructions: of<string>('instructions'),
    conditions: of<Conditions>('conditions'),
    legacyCapabilities: of<JsonObject>('legacyCapabilities'),
  };
}

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text).length;

/**
 * @param last text of the server's last catalog; without one the lists stay empty, as does one that is too large beside the others
 */
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
  let room = MAX_CATALOG_BYTES - bytesOf(Object.values(items).flat().join(''));
  for (const { kind } of discovery.failed) {
    const text = members.get(kind) ?? '[]';
    const bytes = bytesOf(text);
    if (bytes > room) continue;
    room -= bytes;
    items[kind] = rawElements(text);
    const conditioned = lastConditions[kind];
    if (conditioned) conditions[kind] = conditioned;
    if (ttls[kind] !== undefined) ttlMs[kind] = ttls[kind];
  }
  const hasAny = Object.keys(conditions).length > 0;
  return { ...discovery, items, ttlMs, conditions: hasAny ? conditions : undefined };
}
