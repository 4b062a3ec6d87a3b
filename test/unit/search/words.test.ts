/** Text to words and terms: identifiers, forms, scripts, and texts made to break it. */
import { describe, expect, it } from 'vitest';

import { hashText, toTerms } from '../../../src/search/text/terms.ts';
import { toWords } from '../../../src/search/text/words.ts';
import { createRandom, SEED } from '../seeded.ts';

const partsOf = (text: string): string[] => toWords(text, 10_000).flatMap(({ parts }) => parts);

describe('words', () => {
  it.each([
    ['getHTTPServer', ['get', 'http', 'server']],
    ['list_issues', ['list', 'issues']],
    ['API-post-page', ['api', 'post', 'page']],
    ['PRs and IDs', ['prs', 'and', 'ids']],
    ['utf8 k8s', ['utf8', 'k8s']],
    ['Café naïve', ['cafe', 'naive']],
    ['ﬁle ＡＢＣ', ['file', 'abc']],
    ['cre\u200bate de\u00adlete \u202Eevom', ['create', 'delete', 'evom']],
    ['東京都', ['東京', '京都']],
    ['GitHub仓库', ['git', 'hub', '仓库']],
    ['שלום עולם', ['שלום', 'עולם']],
    ['', []],
    ['!!! — …', []],
  ])('[FIND-1] splits %j', (text, words) => {
    expect(partsOf(text)).toEqual(words);
  });

  it('[FIND-1] indexes an identifier by its parts and as a whole', () => {
    expect(toTerms('GitHub', 100)).toEqual(['git', 'hub', 'github']);
    expect(toTerms('the searching of issues', 100)).toEqual(toTerms('Search issue', 100));
  });

  it('[FIND-1] reads no more of a text than requested', () => {
    expect(toTerms('alpha '.repeat(1_000), 60)).toHaveLength(10);
    expect(toTerms('\ufdfa'.repeat(1_000), 10).join('').length).toBeLessThanOrEqual(40);
  });

  it(`[FIND-1] splits a text in the same way, whatever alphabet follows (seed ${SEED})`, () => {
    const random = createRandom();
    const pieces = ['a', 'B', 'Cd', 'IDs', '7', '_', '-', ' ', '.', 'x'.repeat(30), '\n', '\0'];
    for (let i = 0; i < 500; i += 1) {
      const chosen = Array.from({ length: random.below(40) }, () => random.below(pieces.length));
      const text = chosen.map(piece => pieces[piece]).join('');
      const pair = { whole: '东京', parts: ['东京'] };
      expect(toWords(`${text} 东京`, 2_000)).toEqual([...toWords(text, 2_000), pair]);
    }
  });

  it(`[FIND-1] accepts any text, with the same result each time (seed ${SEED})`, () => {
    const random = createRandom();
    for (let i = 0; i < 300; i += 1) {
      const units = Array.from({ length: random.below(200) }, () =>
        random.chance(0.5) ? random.below(128) : random.below(65_536),
      );
      const text = String.fromCharCode(...units);
      const terms = toTerms(text, 1_000);
      expect(terms).toEqual(toTerms(text, 1_000));
      expect(terms.every(term => term.length > 0 && term.length <= 80)).toBe(true);
      for (const term of terms) expect(hashText(term)).toBe(hashText(term) >>> 0);
    }
  });
});
