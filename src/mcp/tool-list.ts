/** `tools/list` results as text, remembered per list, since the same list is asked for often. */
import { pageOf } from '../gateway/page.ts';
import type { ListedTool } from '../gateway/gateway.ts';
import { fromRawMembers } from '../lib/json-spans.ts';
import { IMPLEMENTATION, META, type Era } from '../protocol.ts';

/** How long a client may take a list for fresh, in milliseconds. */
const LIST_TTL_MS = 5_000;
const MAX_TEXTS_PER_LIST = 16;

const MODERN_MEMBERS =
  `"resultType":"complete","ttlMs":${LIST_TTL_MS},"cacheScope":"private",` +
  `"_meta":${JSON.stringify({ [META.serverInfo]: IMPLEMENTATION })},`;

const texts = new WeakMap<readonly ListedTool[], Map<string, string>>();

/**
 * The raw result of `tools/list` for one page.
 * @throws PorticoError `invalid_params` where the cursor is not one of ours
 */
export function toolListText(
  list: readonly ListedTool[],
  cursor: string | undefined,
  pageSize: number,
  era: Era,
): string {
  let known = texts.get(list);
  if (!known) {
    known = new Map();
    texts.set(list, known);
  }
  const key = `${era} ${cursor ?? ''}`;
  const text = known.get(key);
  if (text !== undefined) return text;
  const page = pageOf(list, cursor, pageSize);
  const tools = page.items.map(toolText).join(',');
  const next = page.nextCursor === undefined ? '' : `,"nextCursor":"${page.nextCursor}"`;
  const made = `{${era === 'modern' ? MODERN_MEMBERS : ''}"tools":[${tools}]${next}}`;
  if (known.size < MAX_TEXTS_PER_LIST) known.set(key, made);
  return made;
}

/** A tool as its server wrote it, under the name it has here. */
function toolText({ name, tool }: ListedTool): string {
  if (name === tool.name) return fromRawMembers(tool.raw);
  return fromRawMembers(new Map(tool.raw).set('name', JSON.stringify(name)));
}
