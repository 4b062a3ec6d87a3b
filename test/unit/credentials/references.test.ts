/** References to secrets in texts: found, filled, escaped and shown; malformed ones are errors. */
import { describe, expect, it } from 'vitest';
import {
  escapeReferences,
  fillReferences,
  namesIn,
  showReferences,
} from '../../../src/credentials/references.ts';
import { createRandom, SEED } from '../seeded.ts';

const values: Record<string, string> = { A: 'one', B_2: 'two ${A}', LONG: '$&$1' };
const fill = (text: string) => fillReferences(text, name => values[name]);

describe('references', () => {
  it.each<[string, string[], string]>([
    ['', [], ''],
    ['plain $ { } text', [], 'plain $ { } text'],
    ['Bearer ${A}', ['A'], 'Bearer one'],
    ['${A}${B_2}${A}', ['A', 'B_2'], 'onetwo ${A}one'],
    ['$${A}', [], '${A}'],
    ['$$${A}', [], '$${A}'],
    ['$${A}${A}', ['A'], '${A}one'],
    ['${LONG}', ['LONG'], '$&$1'],
    ['$A {A} $ {A}', [], '$A {A} $ {A}'],
  ])('[UP-4] %j', (text, names, filled) => {
    expect(namesIn(text)).toEqual(names);
    expect(fill(text)).toBe(filled);
  });

  it.each(['${}', '${a}', '${A', '${A-B}', '${1A}', '${ A}', '${A}${', `\${${'A'.repeat(65)}}`])(
    '[UP-4] %j contains an error',
    text => {
      expect(namesIn(text)).toBeUndefined();
      expect(fill(text)).toBeUndefined();
      expect(showReferences(text)).toBeNull();
    },
  );

  it('[UP-4] without a value are not filled', () => {
    expect(fill('${A} ${MISSING}')).toBeUndefined();
    expect(fill('${toString}')).toBeUndefined();
  });

  it(`[UP-4] escaped texts are filled to themselves (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 5_000; round += 1) {
      const length = random.below(12);
      const text = Array.from({ length }, () => random.pick([...'$${{}AB_ a'])).join('');
      expect(fill(escapeReferences(text))).toBe(text);
      expect(namesIn(escapeReferences(text))).toEqual([]);
    }
  });

  it.each<[string, string | null]>([
    ['${A}', '${A}'],
    ['Bearer ${A}', 'Bearer ${A}'],
    ['basic ${A}${B}', 'basic ${A}${B}'],
    ['Bearer abc', null],
    ['Bearer abc${A}', null],
    ['hunter ${A}', null],
    ['$${A}', null],
    ['${A} ', null],
    ['', null],
  ])('[SEC-1] in %j are shown as %j', (text, shown) => {
    expect(showReferences(text)).toBe(shown);
  });
});
