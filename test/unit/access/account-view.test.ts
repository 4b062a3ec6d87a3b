/** Which shared definitions an account's own lists lack: they are stored in few characters and hidden from the account's owner. */
import { describe, expect, it } from 'vitest';
import { viewOfAccount } from '../../../src/access/policy/account-view.ts';
import { both, either, NOTHING, WHOLE, type View } from '../../../src/access/policy/view.ts';
import { filterCatalog } from '../../../src/gateway/steps/restrict.ts';
import {
  areListsDue,
  MAX_OWN_CHARS,
  toOwnLists,
} from '../../../src/servers/accounts/account-lists.ts';
import {
  KIND_FACTS,
  KINDS,
  parseCatalog,
  type Catalog,
  type Kind,
} from '../../../src/servers/catalog/catalog.ts';
import { suited, PLAIN_CLIENT } from '../../../src/servers/catalog/conditions.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import type { HeldAccount, OwnLists } from '../../../src/shared/identity/account.ts';
import { createRandom, drawn, SEED } from '../seeded.ts';

type Keys = Partial<Record<Kind, readonly string[]>>;

function catalogOf(keys: Keys, more: object = {}): Catalog {
  const lists = KINDS.map(kind => [
    kind,
    (keys[kind] ?? []).map(key => ({ [KIND_FACTS[kind].key]: key })),
  ]);
  return parseCatalog('hash', JSON.stringify({ ...Object.fromEntries(lists), ...more }));
}
const ownOf = (keys: Keys) =>
  Object.fromEntries(Object.entries(keys).map(([kind, list]) => [kind, new Set(list)]));
const viewOf = (lists: OwnLists | null) => viewOfAccount({ account: { lists } as HeldAccount });
const keysIn = (catalog: Catalog, kind: Kind) => catalog[kind].items.map(({ key }) => key);
const seen = (lists: OwnLists | null, catalog: Catalog) => filterCatalog(viewOf(lists), catalog);

describe('the stored lists of an account', () => {
  const shared = catalogOf({ tools: ['a', 'b', 'c'], prompts: ['p'] });
  const read = (own: Keys, former: OwnLists | null = null) =>
    toOwnLists(shared, shared, ownOf(own), former);

  it('[ACC-8] are null when the account lacks nothing, whatever else it has', () => {
    expect(read({ tools: ['c', 'b', 'a', 'x'], prompts: ['p', 'y'] })).toBe(null);
    expect(viewOf(null)).toBe(WHOLE);
  });

  it('[ACC-8] name what the account lacks or what it has, whichever is shorter, always in the same order', () => {
    expect(read({ tools: ['x', 'b', 'a'], prompts: [] })).toEqual({
      tools: { lacks: ['c'] },
      prompts: { has: [] },
    });
    expect(read({ tools: ['c'], prompts: ['p'] })).toEqual({ tools: { has: ['c'] } });
  });

  it('[ACC-8] keep the former value of a list that could not be read', () => {
    const former = { tools: { lacks: ['b'] }, prompts: { has: [] } };
    expect(read({ prompts: ['p'] }, former)).toEqual({ tools: { lacks: ['b'] } });
    expect(read({ tools: ['a', 'b', 'c'] }, former)).toEqual({ prompts: { has: [] } });
  });

  it('[ACC-8] are bounded: a list that would be too long hides nothing', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `tool_with_a_long_name_${i}`);
    const many = catalogOf({ tools: names, prompts: ['p', 'q'] });
    const few = (length: number) =>
      toOwnLists(many, many, ownOf({ tools: names.slice(0, length), prompts: ['p'] }), null);
    for (const length of [1, 100, 1_900, 1_999]) {
      const lists = few(length);
      expect(JSON.stringify(lists).length).toBeLessThan(MAX_OWN_CHARS);
      expect(keysIn(seen(lists, many), 'tools')).toHaveLength(length);
    }
    expect(few(1_000)).toEqual({ prompts: { lacks: ['q'] } });
  });

  it('[ACC-8] leave out definitions that are offered only to clients with a capability', () => {
    const conditions = { tools: [['b', { needs: [['sampling']] }]] };
    const asking = catalogOf({ tools: ['a', 'b', 'c', 'd'] }, { conditions });
    const plain = suited(asking, 'legacy', PLAIN_CLIENT);
    expect(keysIn(plain, 'tools')).toEqual(['a', 'c', 'd']);
    const lists = toOwnLists(asking, plain, ownOf({ tools: ['a'] }), null);
    expect(keysIn(seen(lists, asking), 'tools')).toEqual(['a', 'b']);
  });
});

const CASES = drawn(2_000);
it(`[ACC-8] in ${CASES} cases (seed ${SEED}) its owner sees what both have of each kind, in the catalog's order`, () => {
  const random = createRandom();
  const subset = (of: readonly string[], part: number) => of.filter(() => random.chance(part));
  for (let i = 0; i < CASES; i++) {
    const all = Array.from({ length: random.below(30) }, (_, at) => `k${at}`);
    const keys = (part: number) =>
      Object.fromEntries(KINDS.map(kind => [kind, subset(all, part)])) as Record<Kind, string[]>;
    const [mine, own] = [keys(random.next()), keys(random.next())];
    const shared = catalogOf(mine);
    const lists = toOwnLists(shared, shared, ownOf(own), null);
    const left = seen(lists, shared);
    for (const kind of KINDS) {
      const wanted = mine[kind].filter(key => own[kind].includes(key));
      expect(keysIn(left, kind)).toEqual(wanted);
      expect([...left[kind].byKey.keys()]).toEqual(wanted);
    }
  }
});

describe('views that differ in items other than tools', () => {
  const of = (...lacks: string[]) => viewOf({ tools: { lacks }, prompts: { lacks } });
  const sees = (view: View, key: string) => [view.tool(key, false), view.other?.('prompts', key)];

  it('[ACC-3] are intersected, also with views that do not', () => {
    const rules: View = { key: 'rules', rest: true, tool: name => name !== 'c' };
    const together = both(both(rules, of('a')), of('b'));
    expect(['a', 'b', 'c', 'd'].map(key => sees(together, key))).toEqual([
      [false, false],
      [false, false],
      [false, true],
      [true, true],
    ]);
    expect(both(NOTHING, of('a'))).toBe(NOTHING);
    expect(either([of('a'), of('b')]).other?.('prompts', 'a')).toBe(true);
    expect(either([of('a'), of('a', 'b')]).other?.('prompts', 'a')).toBe(false);
    expect(either([of('a'), { ...rules, rest: false }]).other?.('prompts', 'a')).toBe(false);
    expect(either([of('a'), rules]).other?.('prompts', 'a')).toBe(true);
  });

  it('[ACC-3] have equal keys only for equal lists', () => {
    expect(of('a').key).toBe(of('a').key);
    expect(new Set([of('a'), of('b'), of('a', 'b'), WHOLE].map(({ key }) => key)).size).toBe(4);
  });
});

describe("a read of an account's lists is due", () => {
  const account = { listsOf: 'hash', listsAt: 1_000 } as HeldAccount;
  const server = {
    account,
    catalogHash: 'hash',
    verdict: {},
    status: 'CONNECTED',
  } as unknown as Server;
  const isDue = (more: object, now = 1_000) => areListsDue({ ...server, ...more }, now);

  it('[ACC-8] if they were never read, were read for another catalog, or are a quarter of an hour old', () => {
    expect(isDue({})).toBe(false);
    expect(isDue({}, 900_999)).toBe(false);
    expect(isDue({}, 901_000)).toBe(true);
    expect(isDue({ catalogHash: 'other' })).toBe(true);
    expect(isDue({ account: { ...account, listsOf: null } })).toBe(true);
  });

  it('[ACC-8] never without a working account, or without a catalog', () => {
    const never = [
      { needsAccount: true },
      { account: undefined },
      { catalogHash: null },
      { verdict: null },
      { status: 'DISCONNECTED' },
    ];
    expect(never.map(more => isDue(more, 10 ** 9))).toEqual(never.map(() => false));
  });
});
