/**
 * Vectors of a server's tools, computed after its check cycles: stored completely or not at all, once for each text, and not after the end.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { catalogHash, toCatalogText } from '../../../src/servers/catalog/catalog.ts';
import { ModelFailure } from '../../../src/models/model-port.ts';
import type { IndexPartPort } from '../../../src/search/index/index-parts.ts';
import { ModelIndexing } from '../../../src/search/index/model-indexing.ts';
import { readModelVectors } from '../../../src/search/index/model-vectors.ts';
import { createRecord } from '../gateway/fakes.ts';
import { PATIENT } from '../../fixtures/patient.ts';

type Embed = (texts: readonly string[], signal: AbortSignal) => Promise<number[][]>;
const good: Embed = async texts => texts.map(({ length }) => [length, 1, 2, 3]);

/** A server's object that can lose its memory; its catalogs, and the vectors stored beside them. */
function createWorld() {
  const catalogs = new Map<string, string>();
  const stored = new Map<string, ArrayBuffer>();
  const kept = new Map<string, string>();
  const wakes: number[] = [];
  const embed = vi.fn<Embed>(good);
  /** What was deleted and is still returned. */
  const lag = new Map<string, ArrayBuffer>();
  const find = (hash: string) => stored.get(hash) ?? lag.get(hash);
  const parts: IndexPartPort = {
    findAll: async refs => refs.map(({ hash }) => find(hash)),
    has: async (_id, hash) => find(hash) !== undefined,
    put: async (_id, hash, bytes) => void stored.set(hash, bytes.buffer),
  };
  const wake = async (at: number) => void wakes.push(at);
  const start = () =>
    new ModelIndexing({
      storage: {
        get: async key => kept.get(key),
        put: async (key, value) => void kept.set(key, value),
      },
      parts,
      embedder: { name: 'm', maxTexts: 2, embed },
      findCatalog: async (_id, hash) => catalogs.get(hash),
      wake,
    });
  /** The server's record, with a catalog of these tools. */
  async function serve(...names: string[]) {
    const tools = names.map(name => JSON.stringify({ name, inputSchema: { type: 'object' } }));
    const items = { tools, resources: [], resourceTemplates: [], prompts: [] };
    const text = toCatalogText({ items, ttlMs: {}, capabilities: {} });
    const hash = await catalogHash(text);
    catalogs.set(hash, text);
    return { ...createRecord('tracker'), catalogHash: hash };
  }
  const askedOf = () => embed.mock.calls.flatMap(([texts]) => texts).map(text => text.trim());
  return { start, serve, stored, lag, kept, wakes, embed, askedOf };
}

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

describe('vectors of a server’s tools', () => {
  it('[FIND-1] are stored as a whole, requested in small batches, and computed once', async () => {
    const world = createWorld();
    const indexing = world.start();
    const server = await world.serve('a', 'b', 'c');
    await indexing.follow(server);
    expect(world.embed.mock.calls.map(([texts]) => texts.length)).toEqual([2, 1]);
    const bytes = world.stored.get(server.catalogHash);
    expect(bytes && readModelVectors(bytes)).toMatchObject({ size: 3, dimensions: 4 });
    await indexing.follow(server);
    await world.start().follow(server);
    expect(world.embed).toHaveBeenCalledTimes(2);
  });

  it('[FIND-1] that are known are reused, also by an object that lost its memory', async () => {
    const world = createWorld();
    await world.start().follow(await world.serve('a', 'b'));
    await world.start().follow(await world.serve('b', 'new'));
    expect(world.askedOf()).toEqual(['a', 'b', 'new']);
  });

  it('[FIND-1] are stored again if storage that lags still returns those of a deleted catalog', async () => {
    const world = createWorld();
    const first = await world.serve('a', 'b');
    const indexing = world.start();
    await indexing.follow(first);
    await indexing.follow(await world.serve('b', 'c'));
    const vectors = world.stored.get(first.catalogHash);
    if (vectors) world.lag.set(first.catalogHash, vectors);
    world.stored.delete(first.catalogHash);
    await indexing.follow(first);
    expect(world.stored.get(first.catalogHash)).toBeDefined();
    expect(world.askedOf()).toEqual(['a', 'b', 'c']);
  });

  it('[FIND-1] are not stored in part: after a failure the rest is retried at growing intervals', async () => {
    const world = createWorld();
    const indexing = world.start();
    const server = await world.serve('a', 'b', 'c');
    world.embed.mockImplementation((texts, signal) =>
      texts.length === 1 ? Promise.reject(new ModelFailure('unavailable')) : good(texts, signal),
    );
    await indexing.follow(server);
    expect(world.stored.size).toBe(0);
    expect(world.wakes).toEqual([1_030_000]);
    await indexing.follow(server);
    expect(world.embed).toHaveBeenCalledTimes(2);
    vi.setSystemTime(1_030_000);
    await indexing.follow(server);
    expect(world.wakes).toEqual([1_030_000, 1_090_000]);
    vi.setSystemTime(1_090_000);
    world.embed.mockImplementation(good);
    await indexing.follow(server);
    expect(world.askedOf()).toEqual(['a', 'b', 'c', 'c', 'c']);
    expect(world.stored.size).toBe(1);
  });

  it('[FIND-1] are retried after the time that the model asks for', async () => {
    const world = createWorld();
    world.embed.mockRejectedValue(new ModelFailure('budget', 7_200_000));
    await world.start().follow(await world.serve('a'));
    expect(world.wakes).toEqual([8_200_000]);
  });

  it('[FIND-1] are not stored after the end, which waits only for running work', async () => {
    const world = createWorld();
    const indexing = world.start();
    world.embed.mockImplementation(
      (_texts, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new ModelFailure('aborted')));
        }),
    );
    const following = indexing.follow(await world.serve('a'));
    await vi.waitFor(() => expect(world.embed).toHaveBeenCalled(), PATIENT);
    await indexing.stop();
    expect([world.stored.size, world.kept.size, world.wakes]).toEqual([0, 0, []]);
    await following;
    await world.start().stop();
  });

  it('[FIND-1] are computed only for a server that is served', async () => {
    const world = createWorld();
    const server = await world.serve('a');
    const indexing = world.start();
    await indexing.follow({ ...server, status: 'DISCONNECTED' });
    await indexing.follow({ ...server, catalogHash: null });
    await indexing.follow({ ...server, catalogHash: 'gone' });
    expect(world.embed).not.toHaveBeenCalled();
    const first = indexing.follow(server);
    // A second cycle while the first one's vectors are being computed.
    await indexing.follow(server);
    await first;
    expect(world.embed).toHaveBeenCalledTimes(1);
  });
});
