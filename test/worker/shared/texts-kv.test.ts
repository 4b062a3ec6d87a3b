/** Many texts of KV: each under its key, in few operations, also if they exceed the size of one response. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { findTexts } from '../../../src/shared/util/texts-kv.ts';

/** The namespace, with the number of keys of each read. @param most maximum characters of one response; the platform's are 25 MB */
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

it('[EDGE-3] finds texts in the order of their keys, a hundred keys at a time', async () => {
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

it('[EDGE-3] finds texts that exceed the size of one response', async () => {
  const lengths = [700, 400, 10, 20, 30];
  const keys = lengths.map(length => `large/${length}`);
  await Promise.all(keys.map((key, i) => env.CATALOG.put(key, 'x'.repeat(lengths[i] ?? 0))));
  const { kv, reads } = watched(600);
  expect((await findTexts(kv, keys)).map(text => text?.length)).toEqual(lengths);
  // A read of a single key has no such bound here; the platform allows it.
  expect(reads.toSorted((a, b) => a - b)).toEqual([1, 1, 1, 2, 2, 3, 5]);
});

it('[EDGE-3] fails if a single key cannot be read', async () => {
  const get = () => Promise.reject(new Error('away'));
  await expect(findTexts({ get } as unknown as KVNamespace, ['a', 'b'])).rejects.toThrow('away');
});
