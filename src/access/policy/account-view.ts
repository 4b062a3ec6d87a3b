/**
 * What a caller's own account at a server leaves of the catalog, which is the same for everybody. Items that the account's own lists lack
 * are as unknown as items that a rule hides. Lists that were never read hide nothing; there the server itself refuses. Pure.
 */
import type { HeldAccount, OwnList } from '../../shared/identity/account.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { WHOLE, type View } from './view.ts';

const made = new WeakMap<HeldAccount, View>();

/** @param server as the caller reaches it; the same account gives the same view */
export function viewOfAccount({ account }: Pick<Server, 'account'>): View {
  if (!account?.lists) return WHOLE;
  const known = made.get(account);
  if (known) return known;
  const view = toView(account.lists);
  made.set(account, view);
  return view;
}

function toView(lists: NonNullable<HeldAccount['lists']>): View {
  const tests = new Map(Object.entries(lists).map(([kind, list]) => [kind, toTest(list)]));
  const sees = (kind: string, key: string) => tests.get(kind)?.(key) ?? true;
  return {
    key: `account ${JSON.stringify(lists)}`,
    rest: true,
    tool: name => sees('tools', name),
    other: sees,
  };
}

function toTest(list: OwnList): (key: string) => boolean {
  if ('has' in list) {
    const has = new Set(list.has);
    return key => has.has(key);
  }
  const lacks = new Set(list.lacks);
  return key => !lacks.has(key);
}
