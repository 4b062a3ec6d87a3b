/** Lists: their contents for each caller, their TTL, and the key under which they are cached. */
import type { Naming, VisibleServers } from '../../../src/gateway/viewer.ts';
import { describe, expect, it } from 'vitest';
import { parseCatalog, type Kind } from '../../../src/servers/catalog/catalog.ts';
import {
  ONLOOKER,
  PLAIN_CLIENT,
  type ClientTraits,
} from '../../../src/servers/catalog/conditions.ts';
import { Renames } from '../../../src/gateway/naming/renames.ts';
import { createCaller } from '../access/callers.ts';
import { createFakeGateway, createRecord } from './fakes.ts';

const CALLER = createCaller();
const dot: Naming = { kind: 'qualified', style: 'dot' };
const ITEMS = {
  tools: [
    { name: 'echo', inputSchema: {}, description: 'Own words' },
    { name: 'choose', inputSchema: {} },
  ],
  resources: [{ uri: 'file:///x', name: 'x' }],
  resourceTemplates: [{ uriTemplate: 'file:///{name}', name: 'file' }],
  prompts: [{ name: 'ask' }],
};
const alpha = createRecord('alpha');
const beta = createRecord('beta');
const roots: ClientTraits = { features: new Set(['roots']), key: 'roots' };

/** A gateway over servers with extra catalog members; counts how often it reads catalogs. */
function createLists(more: Record<string, object> = {}) {
  let asked = 0;
  const gateway = createFakeGateway({
    catalogOf: ({ name, catalogHash }) => {
      asked += 1;
      const text = JSON.stringify({ ...ITEMS, capabilities: {}, ...more[name] });
      return parseCatalog(catalogHash ?? '', catalogHash === null ? '{}' : text);
    },
  });
  const list = (visible: VisibleServers, naming: Naming = dot, kind: Kind = 'tools') =>
    gateway.list({ caller: CALLER, visible, naming }, kind);
  const names = async (visible: VisibleServers, naming?: Naming, kind?: Kind) =>
    (await list(visible, naming, kind)).items.map(({ name }) => name);
  return { list, names, asked: () => asked };
}

describe('a list', () => {
  it('[MCP-8] names its items as its endpoint does', async () => {
    const { names } = createLists();
    const visible = { servers: [alpha] };
    const own: Naming = { kind: 'own', serverId: alpha.id };
    for (const [naming, wanted] of [
      [dot, ['alpha.ask', 'alpha+file:///x', 'alpha+file:///{name}']],
      [own, ['ask', 'file:///x', 'file:///{name}']],
    ] as const) {
      const kinds = ['prompts', 'resources', 'resourceTemplates'] as const;
      const all = await Promise.all(kinds.map(kind => names(visible, naming, kind)));
      expect(all.flat()).toEqual(wanted);
    }
    // The tools of both namings are cached separately.
    expect(await names(visible)).toEqual(['alpha.echo', 'alpha.choose']);
    expect(await names(visible, own)).toEqual(['echo', 'choose']);
    expect(await names(visible, { kind: 'qualified', style: 'colon' })).toEqual([
      'alpha:echo',
      'alpha:choose',
    ]);
  });

  it('[ACC-4] shows another name, another description, or both', async () => {
    const { list } = createLists();
    const visible = { servers: [alpha] };
    const shown = async (override: { name?: string; description?: string }) => {
      const renames = new Renames([{ server: 'alpha', tool: 'echo', ...override }], [alpha]);
      const { items } = await list(visible, { kind: 'qualified', style: 'dot', renames });
      return items.map(({ name, item }) => [name, item.raw.get('description')]);
    };
    const other = ['alpha.choose', undefined];
    expect(await shown({ name: 'say' })).toEqual([['say', '"Own words"'], other]);
    expect(await shown({ description: 'Ours' })).toEqual([['alpha.echo', '"Ours"'], other]);
    expect(await shown({ name: 'say', description: 'Ours' })).toEqual([['say', '"Ours"'], other]);
    expect(await shown({})).toEqual([['alpha.echo', '"Own words"'], other]);
  });

  it('[MCP-4] has the smallest TTL of its servers, bounded by our own', async () => {
    const { list } = createLists({ alpha: { ttlMs: { tools: 700, prompts: 1 } }, beta: {} });
    const ttlOf = async (visible: VisibleServers) => (await list(visible)).ttlMs;
    expect(await ttlOf({ servers: [beta] })).toBe(5_000);
    expect(await ttlOf({ servers: [alpha, beta] })).toBe(700);
    expect(await ttlOf({ servers: [] })).toBe(5_000);
    const boasting = createLists({ alpha: { ttlMs: { tools: 9_000 } } });
    expect((await boasting.list({ servers: [alpha] })).ttlMs).toBe(5_000);
  });
});

describe('an item for some clients', () => {
  const conditions = { tools: [['choose', { needs: [['roots']] }]] };

  it('[MCP-5] is listed for them alone, also if lists are cached', async () => {
    const { names } = createLists({ alpha: { conditions } });
    const both = ['alpha.echo', 'alpha.choose'];
    for (let round = 0; round < 2; round += 1) {
      expect(await names({ servers: [alpha] })).toEqual(['alpha.echo']);
      expect(await names({ servers: [alpha], client: roots })).toEqual(both);
      expect(await names({ servers: [alpha], client: PLAIN_CLIENT })).toEqual(['alpha.echo']);
      expect(await names({ servers: [alpha], client: ONLOOKER })).toEqual(both);
      // One server with conditions is enough.
      expect(await names({ servers: [alpha, beta], client: roots })).toHaveLength(4);
      expect(await names({ servers: [alpha, beta] })).toHaveLength(3);
    }
  });

  it('[MCP-5] is selected by the era that the server was found to speak, or the older one', async () => {
    const ofEra = (era: string) => ({ tools: [['choose', { era }]] });
    const seen = async (era: string, record = alpha) => {
      const { names } = createLists({ alpha: { conditions: ofEra(era) } });
      return (await names({ servers: [record] })).includes('alpha.choose');
    };
    const modern = createRecord('alpha', {
      verdict: {
        era: 'modern',
        protocolVersion: '2026-07-28',
        transport: 'http',
        sessionful: false,
      },
    });
    expect([await seen('legacy'), await seen('modern')]).toEqual([true, false]);
    expect([await seen('legacy', modern), await seen('modern', modern)]).toEqual([false, true]);
  });

  it('[MCP-4] is cached for each kind of client, and once for all if it suits all', async () => {
    const { list, asked } = createLists({ alpha: { conditions } });
    const ofRoots = { servers: [alpha], client: roots };
    expect(await list(ofRoots)).toBe(await list(ofRoots));
    expect(await list({ servers: [alpha] })).toBe(
      await list({ servers: [alpha], client: PLAIN_CLIENT }),
    );
    const before = await list({ servers: [beta] });
    const count = asked();
    expect(await list({ servers: [beta], client: roots })).toBe(before);
    expect(await list({ servers: [{ ...beta, revision: 2 }] })).toBe(before);
    expect(asked()).toBe(count);
  });
});

describe('many lists', () => {
  it('[EDGE-3] [SEC-4] are cached up to a number of items, least recently used dropped first', async () => {
    const tools = Array.from({ length: 12_000 }, (_, i) => ({ name: `t${i}`, inputSchema: {} }));
    const servers = ['a', 'b', 'c', 'd', 'e'].map(name => createRecord(name));
    const { list, asked } = createLists(
      Object.fromEntries(servers.map(({ name }) => [name, { tools }])),
    );
    const ask = async (places: number[]) => {
      for (const place of places) await list({ servers: servers.slice(place, place + 1) });
      return asked();
    };
    expect(await ask([0, 1, 2, 3, 0, 1, 2, 3])).toBe(4);
    // The fifth replaces the first.
    expect(await ask([4, 3, 2, 1])).toBe(5);
    expect(await ask([0])).toBe(6);
  });
});

describe('a server before its first discovery', () => {
  it('[MCP-12] has an empty list, and that is cached', async () => {
    const { list } = createLists();
    const visible = { servers: [createRecord('new', { catalogHash: null })] };
    const before = await list(visible);
    expect([before.items, before.ttlMs]).toEqual([[], 5_000]);
    expect(await list(visible)).toBe(before);
  });
});
