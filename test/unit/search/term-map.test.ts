/** The map of terms: a search with it gives bit for bit the result of one that reads every part. */
import { describe, expect, it } from 'vitest';
import { toParts, type Part, type Parts, type Searched } from '../../../src/search/index/part.ts';
import { TermMap } from '../../../src/search/index/term-map.ts';
import { toLexicalScores } from '../../../src/search/rank/lexical.ts';
import { TUNING } from '../../../src/search/rank/tuning.ts';
import { toQuery } from '../../../src/search/text/query.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';
import { EMBEDDING, toSegment, toTool } from './made.ts';

const WORDS =
  'issue mail weather send list create search delete commit branch label place report invoice page team 東京 ärger'.split(
    ' ',
  );
/** Reads every part. */
const PLAIN = { of: (parts: readonly Part[]) => () => [...parts.keys()] };

const someWords = (random: Random, most: number) =>
  Array.from({ length: random.below(most + 1) }, () => random.pick(WORDS)).join(' ');

function toCorpus(random: Random): Searched[] {
  const segments = Array.from({ length: 12 }, () =>
    toSegment(
      Array.from({ length: random.below(6) }, (_, i) =>
        toTool(`${random.pick(WORDS)}_${random.pick(WORDS)}_${i}`, someWords(random, 5)),
      ),
    ),
  );
  // Some servers share a catalog, and some words occur on one server only.
  return Array.from({ length: 20 }, (_, i) => {
    const segment = random.pick(segments);
    const server = { name: `${random.pick(WORDS)}-${i}`, description: someWords(random, 4) };
    const shown = Uint8Array.from({ length: segment.size }, () => Number(random.chance(0.8)));
    return random.chance(0.3) ? { segment, server, shown } : { segment, server };
  });
}

function scoresOf(searched: readonly Searched[], query: string, map: Pick<TermMap, 'of'>) {
  const { terms } = toQuery(query, EMBEDDING);
  return toLexicalScores(terms, toParts(searched, EMBEDDING, map), TUNING);
}

describe('a search with the map of terms', () => {
  it.each([
    ['with room for all', 1_000_000],
    ['that begins anew again and again', 300],
    ['with room for some', 60],
    ['with room for none', 0],
  ])(`[FIND-1] [EDGE-3] scores like one without, %s (seed ${SEED})`, (_, room) => {
    const random = createRandom();
    const map = new TermMap(room);
    let matches = 0;
    for (let round = 0; round < 8; round += 1) {
      const corpus = toCorpus(random);
      for (let question = 0; question < 12; question += 1) {
        const searched = corpus.filter(() => random.chance(0.7));
        const query = someWords(random, 5);
        const scores = scoresOf(searched, query, map);
        expect(scores).toEqual(scoresOf(searched, query, PLAIN));
        matches += scores.filter(score => score > 0).length;
      }
    }
    expect(matches).toBeGreaterThan(100);
  });

  it('[FIND-1] [EDGE-3] finds the parts of an earlier search after the map began anew', () => {
    const map = new TermMap(15);
    const toAll = (words: readonly string[]) =>
      toParts(
        words.map(word => ({
          segment: toSegment([toTool(word)]),
          server: { name: `server-of-${word}`, description: '' },
        })),
        EMBEDDING,
        map,
      );
    const partsOf = (word: string, all: Parts) =>
      all.having(toQuery(word, EMBEDDING).terms[0]?.term ?? 0);
    const earlier = toAll(['weather', 'mail']);
    const before = ['weather', 'mail'].map(word => partsOf(word, earlier));
    const later = toAll(['team', 'place', 'mail', 'weather']);
    expect(partsOf('team', later)).toHaveLength(1);
    expect(['weather', 'mail'].map(word => partsOf(word, earlier))).toEqual(before);
    expect(before.map(parts => parts.length)).toEqual([1, 1]);
  });

  it('[EDGE-3] reads only the parts that have the term', () => {
    const searched = WORDS.slice(0, 10).map(word => ({
      segment: toSegment([toTool(word)]),
      server: { name: `server-of-${word}`, description: '' },
    }));
    const all = toParts(searched, EMBEDDING, new TermMap());
    const [weather] = toQuery('weather', EMBEDDING).terms;
    expect(all.having(weather?.term ?? 0)).toHaveLength(1);
    expect(all.having(weather?.term ?? 0)).toHaveLength(1);
    expect(all.having(1)).toHaveLength(0);
  });
});
