/** Results of lists as UTF-8, remembered per list: the same list is asked for often. */
import { KIND_FACTS, type Kind } from '../catalog/catalog.ts';
import type { ListedItem, Listing } from '../gateway/gateway.ts';
import { pageOf } from '../gateway/page.ts';
import { toQualifiedUri } from '../gateway/qualified-uri.ts';
import { fromRawMembers, rawMembers } from '../lib/json-spans.ts';
import { IMPLEMENTATION, META, type Era } from '../protocol.ts';

const MAX_PAGES_PER_LIST = 16;

const LIST_META = JSON.stringify({ [META.serverInfo]: IMPLEMENTATION });

/**
 * What a modern list says beside its items. Private whatever its servers say: a token sees the
 * servers that it may use, so each list depends on the caller.
 */
const modernMembers = (ttlMs: number) =>
  `"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"private","_meta":${LIST_META},`;

const remembered = new WeakMap<Listing, Map<string, Uint8Array>>();

/**
 * The raw result of a list for one page.
 * @throws PorticoError `invalid_params` where the cursor is not one of ours
 */
export function listResult(
  list: Listing,
  kind: Kind,
  cursor: string | undefined,
  pageSize: number,
  era: Era,
): Uint8Array {
  let known = remembered.get(list);
  if (!known) {
    known = new Map();
    remembered.set(list, known);
  }
  const key = `${era} ${cursor ?? ''}`;
  const held = known.get(key);
  if (held) return held;
  const page = pageOf(list.items, cursor, pageSize);
  const items = page.items.map(item => itemText(item, kind)).join(',');
  const next = page.nextCursor === undefined ? '' : `,"nextCursor":"${page.nextCursor}"`;
  const members = era === 'modern' ? modernMembers(list.ttlMs) : '';
  const made = new TextEncoder().encode(`{${members}"${kind}":[${items}]${next}}`);
  if (known.size < MAX_PAGES_PER_LIST) known.set(key, made);
  return made;
}

/** An item as its server wrote it, under the name it has here. */
function itemText({ name, server, item }: ListedItem, kind: Kind): string {
  if (name === item.key) return fromRawMembers(item.raw);
  const raw = new Map(item.raw).set(KIND_FACTS[kind].key, JSON.stringify(name));
  const meta = raw.get('_meta');
  if (kind === 'tools' && meta?.includes('resourceUri')) {
    raw.set('_meta', withQualifiedUi(meta, server.name));
  }
  return fromRawMembers(raw);
}

/** `_meta.ui.resourceUri` (apps extension) with the URI the endpoint reads it under. */
function withQualifiedUi(meta: string, server: string): string {
  const members = rawMembers(meta);
  const ui = members.get('ui');
  if (!ui?.startsWith('{')) return meta;
  const inner = rawMembers(ui);
  const uri: unknown = JSON.parse(inner.get('resourceUri') ?? 'null');
  if (typeof uri !== 'string') return meta;
  inner.set('resourceUri', JSON.stringify(toQualifiedUri(server, uri)));
  return fromRawMembers(members.set('ui', fromRawMembers(inner)));
}
