/** Many texts of KV: each under its key, in few operations, and also where they are too much for one answer. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { findTexts } from '../../../src/shared/util/texts-kv.ts';

/** The namespace, with the number of keys of each read. @param most characters of one answer; the platform's are 25 MB */
function watched(most = Infinity) {
  const reads: number[] = [];
  const get = async (keys: string | string[]) => {
    if (typeof keys === 'string') {
      reads.push(1);
      return env.CATALOG.get(keys);
    }
    reads.push(keys.length);
    const texts = await env.CATALOG.get(keys, 'text');
    const chars = [...texts.values()].reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (chars > most) throw new Error('too much');
    return texts;
  };
  return { kv: { get } as unknown as KVNamespace, reads };
}

it('[EDGE-3] finds texts in their order, a hundred keys at a time', async () => {
  const keys = Array.from({ length: 250 }, (_, i) => `many/${i}`);
  const stored = keys.filter((_, i) => i % 7 !== 3);
  await Promise.all(stored.map(key => env.CATALOG.put(key, `of ${key}`)));
  const { kv, reads } = watched();
  const texts = await findTexts(kv, keys);
  expect(texts).toEqual(keys.map((key, i) => (i % 7 === 3 ? undefined : `of ${key}`)));
  expect(reads).toEqual([100, 100, 50]);
  expect(await findTexts(kv, [])).toEqual([]);
  expect(reads).toHaveLength(3);
});

it('[EDGE-3] finds texts that are too much for one answer', async () => {
  const lengths = [700, 400, 10, 20, 30];
  const keys = lengths.map(length => `large/${length}`);
  await Promise.all(keys.map((key, i) => env.CATALOG.put(key, 'x'.repeat(lengths[i] ?? 0))));
  const { kv, reads } = watched(600);
  expect((await findTexts(kv, keys)).map(text => text?.length)).toEqual(lengths);
  // What one read has alone is the platform's to give.
  expect(reads.toSorted((a, b) => a - b)).toEqual([1, 1, 1, 2, 2, 3, 5]);
});

it('[EDGE-3] fails where a single key cannot be read', async () => {
  const get = () => Promise.reject(new Error('away'));
  await expect(findTexts({ get } as unknown as KVNamespace, ['a', 'b'])).rejects.toThrow('away');
});
