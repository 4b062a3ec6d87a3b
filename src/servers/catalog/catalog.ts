/**
 * A server's catalog: everything it offered at the last discovery, each item as the raw JSON that the server wrote. A catalog is immutable
 * and named by the hash of its text.
 */
import type { ClientFeature } from '../../shared/client-capabilities.ts';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { rawElements, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { type Era, isObject, type JsonObject } from '../../shared/protocol.ts';

/** Kinds of items; the member of a list result that holds the items has the same name. */
export const KINDS = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const;
export type Kind = (typeof KINDS)[number];

/** The list method of each kind, the member that identifies its items, and its capability. */
export const KIND_FACTS: Record<Kind, { method: string; key: string; capability: string }> = {
  tools: { method: 'tools/list', key: 'name', capability: 'tools' },
  resources: { method: 'resources/list', key: 'uri', capability: 'resources' },
  resourceTemplates: {
    method: 'resources/templates/list',
    key: 'uriTemplate',
    capability: 'resources',
  },
  prompts: { method: 'prompts/list', key: 'name', capability: 'prompts' },
};

export interface CatalogItem {
  /** The server's own name, URI or URI template. */
  key: string;
  /** The item's members, raw JSON by key. */
  raw: RawObject;
}

export interface CatalogKind {
  items: readonly CatalogItem[];
  byKey: ReadonlyMap<string, CatalogItem>;
}

/**
 * Longest time for which a list may be considered fresh, in milliseconds, whatever its servers say: which servers a caller reaches, and
 * whether they are available, changes sooner than their own lists do.
 */
export const MAX_LIST_TTL_MS = 5_000;

/** How long a server's lists may be considered fresh, in milliseconds, if the server says so. */
export type ListTtls = Partial<Record<Kind, number>>;

export interface Catalog extends Record<Kind, CatalogKind> {
  hash: string;
  ttlMs: ListTtls;
  capabilities: JsonObject;
  instructions?: string;
  /** Items that not every client is offered. */
  conditions?: Conditions;
  /** Capabilities in the legacy era, for a server that speaks both eras. */
  legacyCapabilities?: JsonObject;
}

/** Identifies a catalog of a server. */
export interface CatalogRef {
  serverId: string;
  hash: string;
}

/** The content of a catalog's text: raw JSON of each item, by kind. */
export interface CatalogContent {
  items: Record<Kind, readonly string[]>;
  ttlMs: ListTtls;
  capabilities: JsonObject;
  instructions?: string | undefined;
  conditions?: Conditions | undefined;
  legacyCapabilities?: JsonObject | undefined;
}

/** Builds the text of a catalog. */
export function toCatalogText(content: CatalogContent): string {
  const lists = KINDS.map(kind => `"${kind}":[${content.items[kind].join(',\n')}]`);
  const { ttlMs, capabilities, instructions, conditions, legacyCapabilities } = content;
  const own = { ttlMs, capabilities, instructions, conditions, legacyCapabilities };
  const rest = JSON.stringify(own).slice(1);
  return `{${lists.join(',\n')},\n${rest}`;
}

/** Computes the name of a catalog's text. */
export function catalogHash(text: string): Promise<string> {
  return sha256Hex(text);
}

/** Parses a catalog's text, which discovery has validated. */
export function parseCatalog(hash: string, text: string): Catalog {
  const members = rawMembers(text);
  const capabilities: unknown = JSON.parse(members.get('capabilities') ?? '{}');
  const instructions = members.get('instructions');
  const kindOf = (kind: Kind) => parseKind(kind, members.get(kind) ?? '[]');
  return {
    hash,
    ttlMs: JSON.parse(members.get('ttlMs') ?? '{}') as ListTtls,
    tools: kindOf('tools'),
    resources: kindOf('resources'),
    resourceTemplates: kindOf('resourceTemplates'),
    prompts: kindOf('prompts'),
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(instructions === undefined ? {} : { instructions: JSON.parse(instructions) as string }),
    ...kept<'conditions', Conditions>(members, 'conditions'),
    ...kept<'legacyCapabilities', JsonObject>(members, 'legacyCapabilities'),
  };
}

/** Reads a member that Portico wrote itself, if it is present. */
function kept<K extends string, V>(members: RawObject, key: K): { [key in K]?: V } {
  const text = members.get(key);
  return text === undefined ? {} : ({ [key]: JSON.parse(text) } as { [key in K]: V });
}

function parseKind(kind: Kind, text: string): CatalogKind {
  const items = rawElements(text).map(element => {
    const raw = rawMembers(element);
    return { key: JSON.parse(raw.get(KIND_FACTS[kind].key) ?? '""') as string, raw };
  });
  return { items, byKey: new Map(items.map(item => [item.key, item])) };
}

/** An empty catalog, for a server that was never discovered or is disconnected. */
export const EMPTY_CATALOG: Catalog = parseCatalog('', '{}');

/** Which clients are offered an item. */
export interface Condition {
  /** The only era in which the server offers it. */
  era?: Era | undefined;
  /** In the legacy era: the client needs at least one feature of each of these sets. Absent if every client is offered the item. */
  needs?: readonly (readonly ClientFeature[])[] | undefined;
}

/** Conditions by the server's own names, as a catalog's text stores them. */
export type Conditions = Partial<Record<Kind, readonly (readonly [string, Condition])[]>>;

/** Whether a tool is annotated as read-only. */
export function isReadOnly({ raw }: CatalogItem): boolean {
  const annotations = raw.get('annotations');
  if (!annotations?.includes('readOnlyHint')) return false;
  return (JSON.parse(annotations) as JsonObject | null)?.['readOnlyHint'] === true;
}
