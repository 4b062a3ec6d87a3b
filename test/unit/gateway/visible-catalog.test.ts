/** Catalogs and servers as a caller sees them: what is left, and that equal results are reused. */
import { describe, expect, it } from 'vitest';
import { parseQualifiedPattern } from '../../../src/shared/util/name-pattern.ts';
import { NOTHING, selectionOf, WHOLE } from '../../../src/access/policy/view.ts';
import { isReadOnly, parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import { filterCatalog, restrictToCaller } from '../../../src/gateway/steps/restrict.ts';
import { PLAIN_CLIENT } from '../../../src/servers/catalog/conditions.ts';
import { createCaller } from '../access/callers.ts';
import { createRecord } from './fakes.ts';

const TOOLS = [
  { name: 'read', annotations: { readOnlyHint: true } },
  { name: 'drop', annotations: { readOnlyHint: false } },
];
const createCatalog = (more: object = {}) =>
  parseCatalog(
    'h',
    JSON.stringify({
      tools: TOOLS,
      resources: [{ uri: 'file:///x' }],
      resourceTemplates: [{ uriTemplate: 'file:///{x}' }],
      prompts: [{ name: 'ask' }],
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
      instructions: 'Be brief.',
      ttlMs: { tools: 7, resources: 8, prompts: 9 },
      ...more,
    }),
  );
const files = createRecord('files');
const select = (include: string[], exclude: string[] = []) =>
  selectionOf(files, include.map(parseQualifiedPattern), exclude.map(parseQualifiedPattern));

describe('a catalog filtered by a view', () => {
  it('[ACC-3] is the whole catalog without a view, or with WHOLE', () => {
    const catalog = createCatalog();
    expect(filterCatalog(undefined, catalog)).toBe(catalog);
    expect(filterCatalog(WHOLE, catalog)).toBe(catalog);
  });

  it('[ACC-3] of some tools has these and nothing but tools', () => {
    const seen = filterCatalog(select(['files.r*']), createCatalog());
    expect(seen.tools.items.map(({ key }) => key)).toEqual(['read']);
    expect([...seen.tools.byKey.keys()]).toEqual(['read']);
    for (const kind of ['resources', 'resourceTemplates', 'prompts'] as const) {
      expect([kind, seen[kind].items, seen[kind].byKey.size]).toEqual([kind, [], 0]);
    }
    expect(seen.capabilities).toEqual({ tools: {}, logging: {} });
    expect([seen.instructions, seen.ttlMs, seen.hash]).toEqual([undefined, { tools: 7 }, 'h']);
  });

  it('[ACC-3] without some tools has everything else', () => {
    const catalog = createCatalog();
    const seen = filterCatalog(select(['files'], ['files.drop']), catalog);
    expect(seen).toEqual({ ...catalog, tools: seen.tools });
    expect(seen.tools.items.map(({ key }) => key)).toEqual(['read']);
  });

  it('[ACC-3] of nothing does not even show its TTL', () => {
    const seen = filterCatalog(NOTHING, createCatalog());
    expect([seen.tools.items, seen.ttlMs]).toEqual([[], {}]);
    const silent = filterCatalog(select(['files.r*']), createCatalog({ ttlMs: {} }));
    expect(silent.ttlMs).toEqual({});
  });

  it('[ACC-3] is made once for each view of each catalog', () => {
    const catalog = createCatalog();
    const [reading, dropping] = [select(['files.read']), select(['files.drop'])];
    const seen = filterCatalog(reading, catalog);
    expect(filterCatalog(select(['files.read']), catalog)).toBe(seen);
    expect(filterCatalog(dropping, catalog)).not.toBe(seen);
    expect(filterCatalog(reading, catalog)).toBe(seen);
    expect(filterCatalog(reading, createCatalog())).not.toBe(seen);
  });
});

describe('a tool', () => {
  it.each<[unknown, boolean]>([
    [{ readOnlyHint: true }, true],
    [{ readOnlyHint: false }, false],
    [{ readOnlyHint: 'true' }, false],
    [{ title: 'readOnlyHint' }, false],
    [{}, false],
    [null, false],
    ['readOnlyHint', false],
    [undefined, false],
  ])('[ACC-3] with the annotations %j changes nothing: %j', (annotations, expected) => {
    const catalog = parseCatalog('h', JSON.stringify({ tools: [{ name: 'a', annotations }] }));
    expect(catalog.tools.items.map(isReadOnly)).toEqual([expected]);
  });
});

describe('visible servers restricted to a caller', () => {
  const servers = [files, createRecord('other')];

  it('[ACC-3] are those with visible items, with a view of each', () => {
    const caller = createCaller({ tools: ['files.read', 'other'] });
    const { servers: left, views } = restrictToCaller(caller, { servers });
    expect(left.map(({ name }) => name)).toEqual(['files', 'other']);
    // A wholly visible server needs no view.
    expect([...(views?.keys() ?? [])]).toEqual(['id-files']);
    const one = restrictToCaller(createCaller({ servers: ['id-other'] }), { servers });
    expect([one.servers.map(({ name }) => name), [...(one.views ?? [])].length]).toEqual([
      ['other'],
      1,
    ]);
  });

  it('[ACC-3] [ACC-4] never grow', () => {
    const view = select(['files.read']);
    const given = { servers, views: new Map([[files.id, view]]) };
    expect(restrictToCaller(createCaller(), given).views?.get(files.id)).toBe(view);
    const dropping = restrictToCaller(createCaller({ tools: ['files.drop'] }), given);
    const seen = ['read', 'drop'].map(tool => dropping.views?.get(files.id)?.tool(tool, false));
    expect(seen).toEqual([false, false]);
  });

  it('[ACC-3] are reused for the same caller, and for no other', () => {
    const caller = createCaller({ tools: ['files.read'] });
    const narrow = restrictToCaller(caller, { servers });
    expect(restrictToCaller(caller, { servers })).toBe(narrow);
    expect(restrictToCaller(caller, narrow)).toBe(narrow);
    expect(restrictToCaller(createCaller(), { servers })).not.toBe(narrow);
    // With views or a client they are another object.
    const ofClient = { servers, client: PLAIN_CLIENT };
    expect(restrictToCaller(caller, ofClient).client).toBe(PLAIN_CLIENT);
    expect(restrictToCaller(caller, ofClient)).toBe(restrictToCaller(caller, ofClient));
    expect(restrictToCaller(caller, { servers }).client).toBeUndefined();
    const viewed = { servers, views: new Map([[files.id, NOTHING]]) };
    expect(restrictToCaller(caller, viewed).servers).toEqual([]);
    expect(restrictToCaller(caller, { servers })).toBe(narrow);
  });
});
