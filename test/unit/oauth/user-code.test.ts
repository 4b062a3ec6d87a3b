/** Codes that people type: without words or digits, uniformly random, and accepted in any spelling. */
import { describe, expect, it } from 'vitest';
import { createUserCode, parseUserCode } from '../../../src/oauth/devices/user-code.ts';

describe('a user code', () => {
  it('[ACC-5] is eight consonants, each equally likely', () => {
    const codes = Array.from({ length: 20_000 }, createUserCode);
    expect(
      codes.filter(code => !/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/.test(code)),
    ).toEqual([]);
    const counts = new Map<string, number>();
    for (const letter of codes.join('').replaceAll('-', '')) {
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect(counts.size).toBe(20);
    // 8,000 each; five standard deviations are 436. With a biased draw the first sixteen would have 8,125 and the rest 7,500.
    for (const count of counts.values()) expect(Math.abs(count - 8_000)).toBeLessThan(450);
  });

  it.each(['BCDF-GHJK', 'bcdf-ghjk', ' bcdf ghjk ', 'BCDFGHJK', 'b.c.d.f–g.h.j.k'])(
    '[ACC-5] is read from %j',
    text => expect(parseUserCode(text)).toBe('BCDF-GHJK'),
  );

  it.each([
    '',
    'BCDF-GHJ',
    'BCDF-GHJKL',
    'ABCD-EFGH',
    'BCDF-GHJ1',
    'BCDF1GHJK',
    `BCDF-GHJK${' '.repeat(40)}`,
  ])('[ACC-5] is not found in %j', text => expect(parseUserCode(text)).toBeUndefined());
});
