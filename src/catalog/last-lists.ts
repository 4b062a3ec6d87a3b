/**
 * Lists of the last catalog in place of those that a look could not read, so that a server whose one list fails loses nothing
 * else, and of that list nothing that was there. Pure.
 */
import { rawElements, rawMembers } from '../lib/json-spans.ts';
import type { Looked } from '../upstream/watch.ts';
import type { ListTtls } from './catalog.ts';

/** @param last text of the server's last catalog; without one the lists stay empty */
export function withLastLists(looked: Looked, last: string | undefined): Looked {
  if (looked.failed.length === 0 || last === undefined) return looked;
  const members = rawMembers(last);
  const ttls = JSON.parse(members.get('ttlMs') ?? '{}') as ListTtls;
  const items = { ...looked.items };
  const ttlMs = { ...looked.ttlMs };
  for (const { kind } of looked.failed) {
    items[kind] = rawElements(members.get(kind) ?? '[]');
    if (ttls[kind] !== undefined) ttlMs[kind] = ttls[kind];
  }
  return { ...looked, items, ttlMs };
}
