/** Session ids: nobody can guess or forge one. */
import { describe, expect, it } from 'vitest';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { SealedIds } from '../../../src/access/admission/sealed-id.ts';
import { createTokenValue } from '../../../src/shared/identity/principal.ts';

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const ringOf = (byte: number) =>
  createKeyRing(JSON.stringify({ active: 'k1', keys: { k1: keyOf(byte) } }));
const ids = new SealedIds(ringOf(1));

/** Chi-square of the characters of texts over an alphabet of 64, which has 63 degrees of freedom. */
function chiSquare(texts: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const char of texts.join('')) counts.set(char, (counts.get(char) ?? 0) + 1);
  const wanted = texts.join('').length / 64;
  return [...counts.values()].reduce((sum, count) => sum + (count - wanted) ** 2 / wanted, 0);
}

/** One random text in ten million exceeds it. */
const CHI_SQUARE_LIMIT = 140;

describe('a session id', () => {
  it('[MCP-10] [ACC-1] and a token never repeat and look random', async () => {
    const made = await Promise.all(
      Array.from({ length: 1_000 }, () => ids.create('p', '2025-11-25')),
    );
    const inner = made.map(({ facts }) => facts.id);
    const tokens = Array.from({ length: 100_000 }, () => createTokenValue().slice(8));
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(new Set(inner).size).toBe(inner.length);
    // The last character of 32 bytes carries four bits only.
    expect(chiSquare(tokens.map(token => token.slice(0, 42)))).toBeLessThan(CHI_SQUARE_LIMIT);
    expect(inner.every(id => id.length === 22)).toBe(true);
  });

  it('[MCP-10] opens unchanged under its own key, and not when changed anywhere or under another key', async () => {
    const { facts, sealed } = await ids.create('p', '2025-11-25');
    expect(await new SealedIds(ringOf(1)).open(sealed)).toEqual(facts);
    expect(await new SealedIds(ringOf(2)).open(sealed)).toBeUndefined();
    // The last character may carry unused bits.
    for (let at = 0; at < sealed.length - 1; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      const spoilt = sealed.slice(0, at) + other + sealed.slice(at + 1);
      expect(await ids.open(spoilt)).toBeUndefined();
    }
    for (const none of ['', 'k1', 'k1.', sealed.slice(0, -4), `${sealed}AAAA`, sealed.repeat(2)]) {
      expect(await ids.open(none)).toBeUndefined();
    }
  });
});
