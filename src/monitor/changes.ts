/** Finds which of a server's lists changed between two discoveries. Pure but for the hash function. */
import { sha256Hex } from '../shared/crypto/base64url.ts';
import { LISTS, type ListName } from '../shared/events.ts';
import type { Kind } from '../servers/catalog/catalog.ts';

/** One hash per list; empty for an empty list, so that a server never discovered has none. */
export type ListHashes = Record<ListName, string>;

export const NO_LISTS: ListHashes = { tools: '', resources: '', prompts: '' };

/** @param items raw JSON of each item by kind */
export async function listHashes(items: Record<Kind, readonly string[]>): Promise<ListHashes> {
  const hashOf = (...kinds: Kind[]) =>
    kinds.every(kind => items[kind].length === 0)
      ? ''
      : sha256Hex(kinds.map(kind => items[kind].join('\n')).join('\n\n'));
  return {
    tools: await hashOf('tools'),
    resources: await hashOf('resources', 'resourceTemplates'),
    prompts: await hashOf('prompts'),
  };
}

export function changedLists(before: ListHashes, after: ListHashes): ListName[] {
  return LISTS.filter(list => before[list] !== after[list]);
}
