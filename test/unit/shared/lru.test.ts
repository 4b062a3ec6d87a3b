/** Lru: bounded, and keeps the most recently used entries. Base64url: a round trip, and refusals. */
import { describe, expect, it } from 'vitest';
import {
  fromBase64Url,
  randomBytes,
  sha256Hex,
  toBase64Url,
} from '../../../src/shared/crypto/base64url.ts';
import { Lru } from '../../../src/shared/util/lru.ts';
import { createRandom, SEED } from '../seeded.ts';

describe('Lru', () => {
  it('[SEC-4] drops the least recently used entry', () => {
    const lru = new Lru<string, number>(2);
    lru.set('a', 1);
    lru.set('b', 2);
    expect(lru.get('a')).toBe(1);
    lru.set('c', 3);
    expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([1, undefined, 3]);
  });

  it('[SEC-4] counts an entry that is set twice once', () => {
    const lru = new Lru<string, number>(2);
    lru.set('a', 1);
    lru.set('b', 2);
    lru.set('a', 3);
    lru.set('c', 4);
    expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([3, undefined, 4]);
  });

  it('[SEC-4] [EDGE-3] is bounded by the weight of its values, if given', () => {
    const lru = new Lru<string, string>(10, value => value.length);
    lru.set('a', 'xxxx');
    lru.set('b', 'xxxx');
    expect(lru.get('a')).toBe('xxxx');
    lru.set('c', 'xxxx');
    expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual(['xxxx', undefined, 'xxxx']);
    // A replaced value releases its weight.
    lru.set('a', 'xx');
    lru.set('d', 'xxxx');
    expect([lru.get('a'), lru.get('c'), lru.get('d')]).toEqual(['xx', 'xxxx', 'xxxx']);
    // A value heavier than the bound displaces nothing.
    lru.set('e', 'x'.repeat(11));
    expect([lru.get('e'), lru.size]).toEqual([undefined, 3]);
    lru.delete('c');
    lru.set('f', 'xxxx');
    expect(lru.size).toBe(3);
  });

  it(`[SEC-4] agrees with a naive model (seed ${SEED})`, () => {
    const random = createRandom();
    const lru = new Lru<number, number>(5);
    let model: [number, number][] = [];
    for (let step = 0; step < 5_000; step += 1) {
      const key = random.below(9);
      const found = model.find(([held]) => held === key);
      expect(lru.get(key)).toBe(found?.[1]);
      if (found) model = [...model.filter(entry => entry !== found), found];
      if (random.chance(0.1)) {
        lru.delete(key);
        model = model.filter(entry => entry !== found);
      } else if (random.chance(0.6)) {
        lru.set(key, step);
        model = [...model.filter(entry => entry !== found), [key, step] as [number, number]].slice(
          -5,
        );
      }
      expect(lru.size).toBe(model.length);
    }
    lru.clear();
    expect(lru.size).toBe(0);
  });
});

describe('base64url', () => {
  it(`reads back what it wrote (seed ${SEED})`, () => {
    const random = createRandom();
    for (let length = 0; length < 200; length += 1) {
      const bytes = Uint8Array.from({ length }, () => random.below(256));
      const text = toBase64Url(bytes);
      expect(text).toMatch(/^[A-Za-z0-9_-]*$/);
      expect(fromBase64Url(text)).toEqual(bytes);
      expect(Buffer.from(text, 'base64url')).toEqual(Buffer.from(bytes));
    }
  });

  it.each(['a+b/', 'ab==', 'a b', 'a\nb', 'A', '\u00e9'])('refuses %j', text => {
    expect(fromBase64Url(text)).toBeUndefined();
  });

  it('computes the standard hash', async () => {
    expect(await sha256Hex('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('[ACC-1] takes its bytes from the platform', () => {
    const seen = new Set(Array.from({ length: 1_000 }, () => toBase64Url(randomBytes(16))));
    expect(seen.size).toBe(1_000);
  });
});
