/** Segments in memory: read in batches, held within a bound of bytes, and built if none is stored. */
import { describe, expect, it } from 'vitest';
import { SearchIndex, toSegmentBytes } from '../../../src/search/index/search-index.ts';
import type { IndexPartPort } from '../../../src/search/index/index-parts.ts';
import { EMPTY_CATALOG, parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { createRecord } from '../gateway/fakes.ts';
import { EMBEDDING } from './made.ts';

const catalogOf = ({ name, catalogHash }: Server) => {
  const tools = [{ name: `find_${name}`, description: 'Finds it.', inputSchema: {} }];
  return parseCatalog(catalogHash ?? '', JSON.stringify({ tools }));
};
const BYTES = toSegmentBytes(catalogOf(createRecord('s-0')), EMBEDDING).byteLength;

/** Servers with stored segments, except for `unmade`; counts the reads. */
function createWorld(count: number, maxBytes?: number, unmade: readonly number[] = []) {
  const servers = Array.from({ length: count }, (_, i) => createRecord(`s-${i}`));
  const stored = new Map<string | null, ArrayBuffer>();
  servers.forEach((server, i) => {
    if (unmade.includes(i)) return;
    stored.set(server.catalogHash, toSegmentBytes(catalogOf(server), EMBEDDING).buffer);
  });
  const reads: number[] = [];
  const made: string[][] = [];
  const segments: IndexPartPort = {
    findAll: async catalogs => {
      reads.push(catalogs.length);
      return catalogs.map(({ hash }) => stored.get(hash));
    },
    has: async () => false,
    put: async () => {},
  };
  const ports = {
    segments,
    embedding: () => Promise.resolve(EMBEDDING),
    catalogsOf: async (of: readonly Server[]) => {
      made.push(of.map(({ name }) => name));
      return of.map(server => (server.name === 's-1' ? EMPTY_CATALOG : catalogOf(server)));
    },
  };
  return { index: new SearchIndex(ports, maxBytes), servers, reads, made };
}

describe('segments', () => {
  it('[EDGE-3] of a thousand servers are read at once, and then no more', async () => {
    const { index, servers, reads, made } = createWorld(1_000);
    const found = await index.segmentsOf([
      ...servers,
      { ...createRecord('new'), catalogHash: null },
    ]);
    expect(found.map(segment => segment?.nameOf(0))).toEqual([
      ...servers.map(({ name }) => `find_${name}`),
      undefined,
    ]);
    expect(await index.segmentsOf(servers)).toEqual(found.slice(0, -1));
    expect([reads, made]).toEqual([[1_000], []]);
  });

  it('[EDGE-3] are held within a bound of bytes, and do not displace each other', async () => {
    const { index, servers, reads } = createWorld(10, BYTES * 7);
    for (let n = 0; n < 3; n += 1) {
      const found = await index.segmentsOf(servers);
      expect(found.map(segment => segment?.size)).toEqual(servers.map(() => 1));
    }
    expect(reads).toEqual([10, 3, 3]);
  });

  it('[EDGE-3] shared by several servers are read once', async () => {
    const { index, servers } = createWorld(3);
    const lost = { ...createRecord('s-1'), id: 'lost', catalogHash: 'same' };
    const found = await index.segmentsOf([lost, ...servers]);
    expect(found.map(segment => segment?.nameOf(0))).toEqual([
      undefined,
      'find_s-0',
      'find_s-1',
      'find_s-2',
    ]);
  });

  it('[FIND-1] are built together if none is stored, but not for a missing catalog', async () => {
    const { index, servers, reads, made } = createWorld(4, undefined, [1, 2]);
    for (let n = 0; n < 2; n += 1) {
      const found = await index.segmentsOf(servers);
      expect(found.map(segment => segment?.nameOf(0))).toEqual([
        'find_s-0',
        undefined,
        'find_s-2',
        'find_s-3',
      ]);
    }
    expect(reads).toEqual([4, 1]);
    expect(made).toEqual([['s-1', 's-2'], ['s-1']]);
  });
});
