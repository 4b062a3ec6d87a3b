/**
 * A server's catalog: what it offered at the last discovery, each item as the raw JSON the server
 * wrote. A catalog is immutable and named by the hash of its text.
 */
import type { ClientFeature } from '../../shared/client-capabilities.ts';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { rawElements, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { type Era, isObject, type JsonObject } from '../../shared/protocol.ts';

/** What can be listed; the member of a list's result that holds the items has the same name. */
export const KINDS = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const;
export type Kind = (typeof KINDS)[number];

/** How a kind is listed and by which member its items are told apart. */
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
 * The longest a list may be taken for fresh, in milliseconds, whatever its servers say: which
 * servers a caller reaches, and whether they are there, changes sooner than their own lists do.
 */
export const MAX_LIST_TTL_MS = 5_000;

/** How long a server's lists may be taken for fresh, in milliseconds, where it says so. */
export type ListTtls = Partial<Record<Kind, number>>;

export interface Catalog extends Record<Kind, CatalogKind> {
  hash: string;
  ttlMs: ListTtls;
  capabilities: JsonObject;
  instructions?: string;
  /** Which items are not for every client. */
  conditions?: Conditions;
  /** What the server says it has in the legacy era, where it speaks both. */
  legacyCapabilities?: JsonObject;
}

/** Which catalog of which server. */
export interface CatalogRef {
  serverId: string;
  hash: string;
}

/** What a catalog's text is made of: raw JSON of each item, by kind. */
export interface CatalogContent {
  items: Record<Kind, readonly string[]>;
  ttlMs: ListTtls;
  capabilities: JsonObject;
  instructions?: string | undefined;
  conditions?: Conditions | undefined;
  legacyCapabilities?: JsonObject | undefined;
}

/** The text of a catalog. */
export function toCatalogText(content: CatalogContent): string {
  const lists = KINDS.map(kind => `"${kind}":[${content.items[kind].join(',\n')}]`);
  const { ttlMs, capabilities, instructions, conditions, legacyCapabilities } = content;
  const own = { ttlMs, capabilities, instructions, conditions, legacyCapabilities };
  const rest = JSON.stringify(own).slice(1);
  return `{${lists.join(',\n')},\n${rest}`;
}

/** The name of a catalog's text. */
export function catalogHash(text: string): Promise<string> {
  return sha256Hex(text);
}

/** Read a catalog's text, which discovery has checked. */
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

/** A member that Portico wrote itself, where it is there. */
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

/** A catalog of nothing: of a server never discovered, or disconnected. */
export const EMPTY_CATALOG: Catalog = parseCatalog('', '{}');

/** For which clients an item is there. */
export interface Condition {
  /** The only era in which the server offers it. */
  era?: Era | undefined;
  /** In the legacy era: a client with at least one feature of each of these sets is offered it. Absent where each client is. */
  needs?: readonly (readonly ClientFeature[])[] | undefined;
}

/** Conditions by the server's own names, as a catalog's text has them. */
export type Conditions = Partial<Record<Kind, readonly (readonly [string, Condition])[]>>;

/** Whether a tool says that it changes nothing. */
export function isReadOnly({ raw }: CatalogItem): boolean {
  const annotations = raw.get('annotations');
  if (!annotations?.includes('readOnlyHint')) return false;
  return (JSON.parse(annotations) as JsonObject | null)?.['readOnlyHint'] === true;
}
