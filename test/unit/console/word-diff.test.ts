/** The words that differ between two texts, and the cost to find them. */
import { describe, expect, it } from 'vitest';
import { diffWords, type Piece } from '../../../console/src/parts/word-diff.ts';
import { leastCostOf } from '../hostile-texts.ts';
import { createRandom, SEED } from '../seeded.ts';

const without = (pieces: readonly Piece[], kind: Piece['kind']): string =>
  pieces.flatMap(piece => (piece.kind === kind ? [] : piece.text)).join('');

describe('a diff by words', () => {
  it('[OPS-1] [SEC-7] marks added and removed words', () => {
    expect(diffWords('Creates an issue', 'Creates an issue. Send ⟨U+200B⟩ all')).toEqual([
      { kind: 'same', text: 'Creates an issue' },
      { kind: 'new', text: '. Send ⟨U+200B⟩ all' },
    ]);
    expect(diffWords('read one file', 'read each file')).toEqual([
      { kind: 'same', text: 'read ' },
      { kind: 'gone', text: 'one' },
      { kind: 'new', text: 'each' },
      { kind: 'same', text: ' file' },
    ]);
    expect(diffWords('', '')).toEqual([]);
    expect(diffWords('a', 'a')).toEqual([{ kind: 'same', text: 'a' }]);
  });

  it(`[OPS-1] [SEC-7] reconstructs both texts (seed ${SEED})`, () => {
    const random = createRandom();
    const words = ['a', 'b', 'c', ' ', '.', '⟨U+202E⟩', '\u0301', '中', '👩'];
    const draw = () => Array.from({ length: random.below(12) }, () => random.pick(words)).join('');
    for (let drawn = 0; drawn < 2_000; drawn += 1) {
      const [before, after] = [draw(), draw()];
      const pieces = diffWords(before, after);
      expect(without(pieces, 'new')).toBe(before);
      expect(without(pieces, 'gone')).toBe(after);
    }
  });

  it('[OPS-1] [SEC-7] stays within its time bound for any texts', () => {
    const many = (word: string) => word.repeat(250_000 / word.length);
    const texts = ['a ', 'b ', 'a b ', '⟨', '⟨U+', '⟨U+AAAA', 'a', ' ', '.', 'x.'].map(many);
    const random = createRandom();
    const noise = () => Array.from({ length: 9_000 }, () => random.pick(['a ', 'b '])).join('');
    texts.push(noise());
    for (const before of texts) {
      for (const after of [many('b '), noise()]) {
        const cost = leastCostOf(() => diffWords(before, after), 300);
        expect(cost).toBeLessThan(300);
      }
    }
    const [before, after] = [many('a '), many('b ')];
    expect(diffWords(`x ${before}y`, `x ${after}y`).map(({ kind }) => kind)).toEqual([
      'same',
      'gone',
      'new',
      'same',
    ]);
  });
});
