/** `tools/list` results as UTF-8, remembered per list: the same list is asked for often. */
import { pageOf } from '../gateway/page.ts';
import type { ListedTool } from '../gateway/gateway.ts';
import { fromRawMembers } from '../lib/json-spans.ts';
import { IMPLEMENTATION, META, type Era } from '../protocol.ts';

/** How long a client may take a list for fresh, in milliseconds. */
const LIST_TTL_MS = 5_000;
const MAX_PAGES_PER_LIST = 16;

const MODERN_MEMBERS =
  `"resultType":"complete","ttlMs":${LIST_TTL_MS},"cacheScope":"private",` +
  `"_meta":${JSON.stringify({ [META.serverInfo]: IMPLEMENTATION })},`;

const remembered = new WeakMap<readonly ListedTool[], Map<string, Uint8Array>>();

/**
 * The raw result of `tools/list` for one page.
 * @throws PorticoError `invalid_params` where the cursor is not one of ours
 */
export function toolListResult(
  list: readonly ListedTool[],
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
  const page = pageOf(list, cursor, pageSize);
  const tools = page.items.map(toolText).join(',');
  const next = page.nextCursor === undefined ? '' : `,"nextCursor":"${page.nextCursor}"`;
  const members = era === 'modern' ? MODERN_MEMBERS : '';
  const made = new TextEncoder().encode(`{${members}"tools":[${tools}]${next}}`);
  if (known.size < MAX_PAGES_PER_LIST) known.set(key, made);
  return made;
}

/** A tool as its server wrote it, under the name it has here. */
function toolText({ name, tool }: ListedTool): string {
  if (name === tool.name) return fromRawMembers(tool.raw);
  return fromRawMembers(new Map(tool.raw).set('name', JSON.stringify(name)));
}
