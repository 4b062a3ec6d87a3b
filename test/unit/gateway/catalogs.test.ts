/** Catalogs in memory: read in batches, held within a bound of bytes, and missing ones are not cached. */
import { describe, expect, it } from 'vitest';
import { Catalogs } from '../../../src/gateway/catalogs.ts';
import type { CatalogRef } from '../../../src/servers/catalog/catalog.ts';
import { createRecord } from './fakes.ts';

const server = (name: string, tools = 1) =>
  createRecord(name, { catalogHash: `${name}-${tools}`, status: 'CONNECTED' });

/** A store that returns as many tools as the hash says, and notes its reads. */
function createStore(gone: ReadonlySet<string> = new Set()) {
  const reads: string[][] = [];
  const find = (refs: readonly CatalogRef[]) => {
    reads.push(refs.map(({ hash }) => hash));
    const texts = refs.map(({ hash }) => {
      const count = Number(hash.split('-').at(-1));
      const tools = Array.from({ length: count }, (_, i) => ({ name: `tool-${i}` }));
      return gone.has(hash) ? undefined : JSON.stringify({ tools });
    });
    return Promise.resolve(texts);
  };
  return { find, reads };
}

describe('catalogs', () => {
  it('[EDGE-3] of a thousand servers are read at once, and then no more', async () => {
    const { find, reads } = createStore();
    const catalogs = new Catalogs({ find });
    const servers = Array.from({ length: 1_000 }, (_, i) => server(`s${i}`, 10));
    const all = await catalogs.ofAll(servers);
    expect(all.map(({ hash }) => hash)).toEqual(servers.map(({ catalogHash }) => catalogHash));
    expect(reads).toHaveLength(1);
    expect(await catalogs.ofAll(servers)).toEqual(all);
    for (const [i, one] of servers.entries()) expect(catalogs.of(one)).toBe(all[i]);
    expect(reads).toHaveLength(1);
  });

  it('[EDGE-3] are held within a bound of bytes, least recently used dropped first', async () => {
    const { find, reads } = createStore();
    const catalogs = new Catalogs({ find }, 18_000);
    const [large, other, small] = [server('a', 10), server('b', 10), server('c')];
    await catalogs.ofAll([large, other]);
    await catalogs.of(small);
    await catalogs.of(large);
    await catalogs.of(small);
    expect(reads).toEqual([['a-10', 'b-10'], ['c-1'], ['a-10']]);
  });

  it('[EDGE-3] shared by several servers are read once, and servers without one get an empty one', async () => {
    const found: string[] = [];
    const find = async (refs: readonly CatalogRef[]) => {
      found.push(...refs.map(({ serverId }) => serverId));
      return refs.map(({ serverId }) => (serverId === 'id-lost' ? undefined : '{"tools":[]}'));
    };
    const same = (name: string) => ({ ...server(name), catalogHash: 'same' });
    const catalogs = new Catalogs({ find });
    const all = await catalogs.ofAll([same('lost'), same('a'), same('b'), same('a')]);
    expect(all.map(({ hash }) => hash)).toEqual(['', 'same', 'same', 'same']);
    expect(all[1]).toBe(all[2]);
    expect(found).toEqual(['id-lost', 'id-a', 'id-b']);
  });

  it('that no longer exist are replaced by empty ones, and are read again next time', async () => {
    const { find, reads } = createStore(new Set(['gone-1']));
    const catalogs = new Catalogs({ find });
    const [gone, there] = [server('gone'), server('there')];
    const off = { ...server('off'), status: 'DISCONNECTED' as const };
    const found = await catalogs.ofAll([gone, off, there]);
    expect(found.map(({ hash }) => hash)).toEqual(['', '', 'there-1']);
    await catalogs.ofAll([gone, off, there]);
    expect(reads).toEqual([['gone-1', 'there-1'], ['gone-1']]);
  });
});
