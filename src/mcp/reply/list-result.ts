/** Results of lists as UTF-8, cached while there is room: many callers ask for the same list, often. */
import type { ListedItem, Listing } from '../../gateway/listing.ts';
import { KIND_FACTS, type Kind } from '../../servers/catalog/catalog.ts';
import { toLegacyTool } from '../../gateway/results/legacy-tool.ts';
import { pageOf } from '../../gateway/page.ts';
import { toQualifiedUri } from '../../shared/naming/qualified-uri.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { Lru } from '../../shared/util/lru.ts';
import { IMPLEMENTATION, META, type Era } from '../../shared/protocol.ts';

/** Most bytes of all cached pages together, and of one page, which is large because some clients read only the first. */
const MAX_REMEMBERED_BYTES = 16_777_216;
const MAX_PAGE_BYTES = 8_388_608;
/** Longest key of a cached page, including its cursor; each page counts for this many bytes more than its own. */
const MAX_KEY_CHARS = 4_096;

const LIST_META = JSON.stringify({ [META.serverInfo]: IMPLEMENTATION });

/**
 * Members of a modern list result beside its items. Always `private`, whatever the servers say: a token sees the servers that it may use,
 * so each list depends on the caller.
 */
export const modernMembers = (ttlMs: number) =>
  `"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"private","_meta":${LIST_META},`;

/** Pages by the id of their list, era and cursor. A list is the same for everybody who gets it. */
const remembered = new Lru<string, Uint8Array>(
  MAX_REMEMBERED_BYTES,
  ({ byteLength }) => byteLength + MAX_KEY_CHARS,
);
const ids = new WeakMap<Listing, string>();

/**
 * Returns the raw result of a list for one page.
 * @throws PorticoError `invalid_params` where the cursor is not the gateway's own
 */
export function listResult(
  list: Listing,
  kind: Kind,
  cursor: string | undefined,
  pageSize: number,
  era: Era,
): Uint8Array {
  const key = `${idOf(list)} ${era} ${cursor ?? ''}`;
  const held = remembered.get(key);
  if (held) return held;
  const encoder = new TextEncoder();
  const items: string[] = [];
  let bytes = 0;
  const page = pageOf(list.items, cursor, pageSize, item => {
    const text = itemText(forEra(item, kind, era), kind);
    bytes += encoder.encode(text).byteLength + 1;
    if (items.length > 0 && bytes > MAX_PAGE_BYTES) return false;
    items.push(text);
    return true;
  });
  const next = page.nextCursor === undefined ? '' : `,"nextCursor":"${page.nextCursor}"`;
  const members = era === 'modern' ? modernMembers(list.ttlMs) : '';
  const made = encoder.encode(`{${members}"${kind}":[${items.join(',')}]${next}}`);
  if (list.isWhole && key.length <= MAX_KEY_CHARS) remembered.set(key, made);
  return made;
}

function idOf(list: Listing): string {
  const known = ids.get(list) ?? crypto.randomUUID();
  ids.set(list, known);
  return known;
}

/** Returns an item in the form for clients of an era. */
function forEra(listed: ListedItem, kind: Kind, era: Era): ListedItem {
  if (era === 'modern' || kind !== 'tools') return listed;
  return { ...listed, item: toLegacyTool(listed.item) };
}

/** An item as its server wrote it, under its name on this endpoint. */
function itemText(item: ListedItem, kind: Kind): string {
  return fromRawMembers(toOwnMembers(item, kind));
}

/** Finds `_meta` of tools that may name a view. */
const NAMES_VIEW = /resourceUri|outputTemplate/;

/** The same as raw members. */
export function toOwnMembers({ name, server, item, isRenamed }: ListedItem, kind: Kind): RawObject {
  if (name === item.key && !isRenamed) return item.raw;
  const raw = new Map(item.raw).set(KIND_FACTS[kind].key, JSON.stringify(name));
  const meta = raw.get('_meta');
  if (kind === 'tools' && meta && NAMES_VIEW.test(meta)) {
    raw.set('_meta', withQualifiedUi(meta, server.name));
  }
  return raw;
}

/**
 * Puts the view of a tool (apps extension, SEP-1865) under the URI by which this endpoint reads it: `_meta.ui.resourceUri`,
 * `_meta["ui/resourceUri"]`, which the former replaces, and `_meta["openai/outputTemplate"]` of ChatGPT's Apps SDK.
 */
function withQualifiedUi(meta: string, server: string): string {
  const members = rawMembers(meta);
  qualify(members, 'ui/resourceUri', server);
  qualify(members, 'openai/outputTemplate', server);
  const ui = members.get('ui');
  if (ui?.startsWith('{')) {
    members.set('ui', fromRawMembers(qualify(rawMembers(ui), 'resourceUri', server)));
  }
  return fromRawMembers(members);
}

/** Qualifies the URI under a key, where there is one. */
function qualify(members: Map<string, string>, key: string, server: string): Map<string, string> {
  const uri: unknown = JSON.parse(members.get(key) ?? 'null');
  if (typeof uri === 'string') members.set(key, JSON.stringify(toQualifiedUri(server, uri)));
  return members;
}
