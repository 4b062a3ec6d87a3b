/** One key in base64 is a key ring of one: a person can create it without a special command. */
import { expect, it } from 'vitest';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

it('[SEC-1] [OPS-4] accepts one key as a key ring of one', async () => {
  const [one, ring] = [KEY, JSON.stringify({ active: 'k1', keys: { k1: KEY } })].map(createKeyRing);
  const sealed = await one?.seal('envelope', 'text', 'aad');
  expect(await ring?.open('envelope', sealed ?? '', 'aad')).toBe('text');
  expect(one?.ids).toEqual(['k1']);
  for (const wrong of [KEY.slice(1), `${KEY}${KEY}`, ''])
    expect(() => createKeyRing(wrong)).toThrow(/PORTICO_KEYS/);
});
