/** The model's part of a search: its delay is bounded, it is not asked needlessly, and its absence breaks nothing. */
import { describe, expect, it, vi } from 'vitest';
import { ModelFailure } from '../../../src/models/model-port.ts';
import type { IndexPartPort } from '../../../src/search/index/index-parts.ts';
import { createModelSearch } from '../../../src/search/rank/model-search.ts';
import { buildModelVectors } from '../../../src/search/index/model-vectors.ts';
import { createRecord } from '../gateway/fakes.ts';
import { toTool } from './made.ts';

type Embed = (texts: readonly string[], signal: AbortSignal) => Promise<number[][]>;

function start(embed: Embed) {
  const stored = new Map<string, ArrayBuffer>();
  const findAll = vi.fn<IndexPartPort['findAll']>(async catalogs =>
    catalogs.map(({ hash }) => stored.get(hash)),
  );
  const parts: IndexPartPort = {
    findAll,
    has: async (_id, hash) => stored.has(hash),
    put: async (_id, hash, bytes) => void stored.set(hash, bytes.buffer),
  };
  let now = 1_000_000;
  const asked = vi.fn<Embed>(embed);
  const search = createModelSearch(parts, { name: 'm', maxTexts: 10, embed: asked }, () => now);
  return { search, parts, findAll, asked, pass: (ms: number) => (now += ms) };
}
const SERVER = { ...createRecord('tracker'), catalogHash: 'h1' };
const good: Embed = async texts => texts.map(() => [1, 2, 3, 4]);

describe('the vector of a query', () => {
  it('[FIND-1] comes from the model, for a bounded part of the query', async () => {
    const { search, asked } = start(good);
    expect(await search.vectorOf('x'.repeat(5_000))).toHaveLength(4);
    expect(asked.mock.calls[0]?.[0]).toEqual(['x'.repeat(2_000)]);
    expect(await search.vectorOf(' \n')).toBeUndefined();
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('[FIND-1] is awaited for a second', async () => {
    const limits: number[] = [];
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(ms => {
      limits.push(ms);
      return AbortSignal.abort(new DOMException('over', 'TimeoutError'));
    });
    const { search } = start(async (_texts, signal) => {
      throw new ModelFailure(signal.aborted ? 'timeout' : 'broken');
    });
    expect(await search.vectorOf('a')).toBeUndefined();
    expect(limits).toEqual([1_000]);
    timeout.mockRestore();
  });

  it('[FIND-1] is not requested for ten seconds after a failure', async () => {
    let isBroken = true;
    const { search, asked, pass } = start(async texts => {
      if (isBroken) throw new ModelFailure('unavailable');
      return good(texts, new AbortController().signal);
    });
    expect(await search.vectorOf('a')).toBeUndefined();
    isBroken = false;
    pass(9_999);
    expect(await search.vectorOf('a')).toBeUndefined();
    expect(asked).toHaveBeenCalledTimes(1);
    pass(1);
    expect(await search.vectorOf('a')).toBeDefined();
  });

  it('[FIND-1] hides no error of our own', async () => {
    const { search } = start(() => Promise.reject(new TypeError('ours')));
    await expect(search.vectorOf('a')).rejects.toThrow('ours');
  });
});

describe('the vectors of tools', () => {
  it('[FIND-1] are read once if they exist, and looked up every two seconds if not', async () => {
    const { search, parts, findAll, pass } = start(good);
    expect(await search.vectorsOf([SERVER])).toEqual([undefined]);
    const embed = async (texts: readonly string[]) => good(texts, new AbortController().signal);
    await parts.put('', 'h1', (await buildModelVectors([toTool('a')], embed, 10)).bytes);
    pass(1_999);
    expect(await search.vectorsOf([SERVER])).toEqual([undefined]);
    expect(findAll).toHaveBeenCalledTimes(1);
    pass(1);
    expect(await search.vectorsOf([SERVER])).toMatchObject([{ size: 1 }]);
    expect(await search.vectorsOf([SERVER])).toMatchObject([{ size: 1 }]);
    expect(findAll).toHaveBeenCalledTimes(2);
    expect(await search.vectorsOf([{ ...SERVER, catalogHash: null }])).toEqual([undefined]);
  });

  it('[FIND-1] [EDGE-3] of many servers are looked up together, and only missing ones', async () => {
    const { search, parts, findAll } = start(good);
    const embed = async (texts: readonly string[]) => good(texts, new AbortController().signal);
    const { bytes } = await buildModelVectors([toTool('a')], embed, 10);
    await parts.put('', 'h2', bytes);
    const servers = ['h1', 'h2', 'h3'].map(catalogHash => ({ ...SERVER, catalogHash }));
    const found = await search.vectorsOf(servers);
    expect(found.map(vectors => vectors?.size)).toEqual([undefined, 1, undefined]);
    await search.vectorsOf([...servers, { ...SERVER, catalogHash: 'h4' }]);
    const asked = findAll.mock.calls.map(([catalogs]) => catalogs.map(({ hash }) => hash));
    expect(asked).toEqual([['h1', 'h2', 'h3'], ['h4']]);
  });

  it('[FIND-1] that cannot be read count as missing', async () => {
    const { search, parts } = start(good);
    await parts.put('', 'h1', new Uint8Array(3));
    expect(await search.vectorsOf([SERVER])).toEqual([undefined]);
  });

  it('[FIND-1] take no part while their storage fails, and are looked up again', async () => {
    const { search, parts, findAll, pass } = start(good);
    const embed = async (texts: readonly string[]) => good(texts, new AbortController().signal);
    await parts.put('', 'h1', (await buildModelVectors([toTool('a')], embed, 10)).bytes);
    findAll.mockRejectedValueOnce(new Error('no storage'));
    expect(await search.vectorsOf([SERVER])).toEqual([undefined]);
    pass(2_000);
    expect(await search.vectorsOf([SERVER])).toMatchObject([{ size: 1 }]);
  });
});
