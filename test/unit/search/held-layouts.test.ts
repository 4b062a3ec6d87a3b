/** Cached layouts: a search with them gives bit for bit the result of one that computes a new layout and reads every part. */
import { describe, expect, it } from 'vitest';

import { HeldLayouts } from '../../../src/search/index/held-layouts.ts';
import { toParts, type Parts, type Searched } from '../../../src/search/index/part.ts';
import { rankParts } from '../../../src/search/rank/rank.ts';
import { TUNING } from '../../../src/search/rank/tuning.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';
import { EMBEDDING, toSearched, toSegment, toTool } from './made.ts';

const WORDS =
  'issue mail weather send list create search delete commit branch label place report invoice page team 東京 ärger'.split(
    ' ',
  );
const ROOM = 16_777_216;
/** Reads every part. */
const PLAIN = { of: (parts: readonly unknown[]) => () => [...parts.keys()] };

const someWords = (random: Random, most: number) =>
  Array.from({ length: random.below(most + 1) }, () => random.pick(WORDS)).join(' ');

const toServers = (random: Random): Searched[] =>
  Array.from({ length: 40 }, (_, i) => {
    const tools = Array.from({ length: random.below(6) }, (__, t) =>
      toTool(`${random.pick(WORDS)}_${random.pick(WORDS)}_${t}`, someWords(random, 6)),
    );
    return toSearched(`${random.pick(WORDS)}-${i}`, tools, someWords(random, 4));
  });

/** What one caller sees of these servers: fewer servers, and fewer tools of some. */
const toSeen = (servers: readonly Searched[], random: Random): Searched[] =>
  servers
    .filter(() => random.chance(0.8))
    .map(one => {
      if (random.chance(0.6)) return one;
      const seen = Array.from({ length: one.segment.size }, () => Number(random.chance(0.7)));
      return { ...one, shown: Uint8Array.from(seen) };
    });

/** Short and long queries, some with a name, a typo, a second task or an exclusion. */
function toRequest(servers: readonly Searched[], random: Random): string {
  const { segment } = random.pick(servers);
  const name = segment.size > 0 ? segment.nameOf(random.below(segment.size)) : 'nothing';
  return random.pick([
    () => someWords(random, 5),
    () => `${someWords(random, 3)} ${name}`,
    () => `${random.pick(WORDS)}x ${someWords(random, 4)}`,
    () => `${someWords(random, 4)}. Then ${someWords(random, 4)}; also ${someWords(random, 3)}`,
    () => `${someWords(random, 4)} without ${someWords(random, 2)}`,
    () => Array.from({ length: 9 }, () => `Hello, I think ${someWords(random, 6)}`).join('. '),
  ])();
}

const answer = (query: string, all: Parts) => rankParts(query, all, EMBEDDING, 10, TUNING);

/** Like `toParts`, on fresh objects, for which nothing is cached. */
const toPlain = (searched: readonly Searched[]): Parts =>
  toParts(
    searched.map(one => ({ ...one, segment: { ...one.segment } })),
    EMBEDDING,
    PLAIN,
  );

describe('a search with cached layouts', () => {
  it.each([
    ['with room for all', ROOM],
    ['with room for some', 20_000],
    ['with room for none', 0],
  ])(`[FIND-1] [ACC-3] gives the same result as one without, %s (seed ${SEED})`, (_, room) => {
    const random = createRandom();
    let found = 0;
    for (let round = 0; round < 3; round += 1) {
      const layouts = new HeldLayouts(room);
      const servers = toServers(random);
      const callers = Array.from({ length: 9 }, () => toSeen(servers, random));
      for (let question = 0; question < 30; question += 1) {
        const seen = random.pick(callers);
        const query = toRequest(servers, random);
        const answers = answer(query, layouts.of(seen, EMBEDDING));
        expect({ query, answers }).toEqual({ query, answers: answer(query, toPlain(seen)) });
        found += answers.length;
      }
    }
    expect(found).toBeGreaterThan(500);
  });

  const one = toSearched('one', [toTool('create_issue', 'Open an issue.')], 'Code');
  const other = toSearched('other', [toTool('send_mail', 'Send mail.')]);

  it('[FIND-1] reuses the layout for the same tools in another list object', () => {
    const layouts = new HeldLayouts();
    const first = layouts.of([one, other], EMBEDDING);
    expect(layouts.of([{ ...one }, { ...other }], EMBEDDING)).toBe(first);
  });

  it.each<[string, Searched[]]>([
    ['one server less', [one]],
    ['another order', [other, one]],
    ['another catalog', [{ ...one, segment: toSegment([toTool('create_issue')]) }, other]],
    ['another name', [{ ...one, server: { name: 'two', description: 'Code' } }, other]],
    ['another description', [{ ...one, server: { name: 'one', description: '' } }, other]],
    ['a hidden tool', [{ ...one, shown: new Uint8Array(1) }, other]],
  ])('[ACC-3] uses another layout for %s', (_, searched) => {
    const layouts = new HeldLayouts();
    const first = layouts.of([one, other], EMBEDDING);
    const second = layouts.of(searched, EMBEDDING);
    expect(second).not.toBe(first);
    expect(answer('create issue', second)).toEqual(answer('create issue', toPlain(searched)));
  });

  it('[EDGE-3] keeps frequently used layouts while many others pass, and few of those', () => {
    const layouts = new HeldLayouts();
    const often = layouts.of([one, other], EMBEDDING);
    layouts.of([one, other], EMBEDDING);
    const passing = Array.from({ length: 20 }, () => [{ ...one, shown: new Uint8Array(1) }]);
    const firsts = passing.map(searched => layouts.of(searched, EMBEDDING));
    expect(layouts.of([one, other], EMBEDDING)).toBe(often);
    const again = passing.filter((searched, i) => layouts.of(searched, EMBEDDING) === firsts[i]);
    expect(again.length).toBeLessThan(7);
  });

  it('[EDGE-3] keeps no more bytes than allowed', () => {
    const bytes = one.segment.vectors.buffer.byteLength;
    const layouts = new HeldLayouts(bytes);
    const first = layouts.of([one], EMBEDDING);
    expect(layouts.of([one], EMBEDDING)).toBe(first);
    const large = layouts.of([one, other], EMBEDDING);
    expect(layouts.of([one, other], EMBEDDING)).not.toBe(large);
    expect(layouts.of([one], EMBEDDING)).toBe(first);
  });
});
