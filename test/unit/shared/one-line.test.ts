/** Foreign texts on one line. */
import { describe, expect, it } from 'vitest';
import { toOneLine } from '../../../src/shared/util/one-line.ts';

describe('a foreign text', () => {
  it.each([
    ['plain words', 'plain words'],
    ['  two\r\n lines\tand\u00a0\u2028more ', 'two lines and more'],
    ['a\u0000b\u001b[31mc', 'ab[31mc'],
    ['in\u200bvis\u2060i\ufeffble', 'invisible'],
    ['left\u202eright\u2066back', 'leftrightback'],
    ['tags\u{E0041}\u{E0042}', 'tags'],
    ['soft\u00adhyphen \u2800 blank', 'softhyphen blank'],
    ['half \ud83d pair', 'half pair'],
    ['Grüße, 世界 🚀', 'Grüße, 世界 🚀'],
    ['', ''],
  ])('[FIND-2] [SEC-8] %j is %j', (text, line) => {
    expect(toOneLine(text, 100)).toBe(line);
  });

  it('[FIND-2] [SEC-8] is cut at the bound, and not within a character', () => {
    expect(toOneLine('x'.repeat(10), 10)).toBe('x'.repeat(10));
    expect(toOneLine('x'.repeat(11), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(toOneLine('🚀'.repeat(10), 10)).toBe(`${'🚀'.repeat(4)}…`);
    expect(toOneLine(`${'x'.repeat(10)}${' '.repeat(31)}`, 10)).toBe(`${'x'.repeat(9)}…`);
    // Text far beyond the bound is never read.
    expect(toOneLine(`a${' '.repeat(1_000_000)}b`, 10)).toBe('a…');
    for (const text of ['\u200b'.repeat(10_000_000), 'é'.repeat(1_000_000)]) {
      expect(toOneLine(text, 160).length).toBeLessThanOrEqual(160);
    }
  });
});
