/** A ranking with a model's vectors: what they change, and what they must not. */
import { describe, expect, it } from 'vitest';
import { rank, type Ranked, type Searched } from '../../../src/search/rank/rank.ts';
import {
  buildModelVectors,
  readModelVectors,
  toModelVector,
} from '../../../src/search/index/model-vectors.ts';
import type { SearchedTool } from '../../../src/search/index/segment.ts';
import { createRandom, SEED } from '../seeded.ts';
import { EMBEDDING, toSearched, toSegment, toTool } from './made.ts';

/** The meaning of a text in numbers that none of its words shows. */
type About = (text: string) => readonly number[];

const withModel = async (
  searched: Searched,
  tools: readonly SearchedTool[],
  about: About,
): Promise<Searched> => {
  const { bytes } = await buildModelVectors(tools, async texts => texts.map(about), 100);
  return { ...searched, modelVectors: readModelVectors(bytes.buffer) };
};
const find = (query: string, searched: readonly Searched[], vector?: readonly number[]): Ranked[] =>
  rank(query, searched, EMBEDDING, 50, undefined, vector && toModelVector(vector));
const namesOf = (found: readonly Ranked[], searched: readonly Searched[]) =>
  found.map(({ searched: at, tool, score }) => {
    const one = searched[at];
    return [one?.server.name, one?.segment.nameOf(tool), score];
  });

const TOOLS = [
  toTool('zq_run', 'Starts one.'),
  toTool('list_songs', 'List songs.'),
  toTool('get_forecast', 'Get the weather forecast.'),
  toTool('send_mail', 'Send a mail.'),
];
const about: About = text => [text.includes('zq') ? 1 : 0, 0.1, 0.1, text.includes('mail') ? 1 : 0];

describe('a ranking with a model', () => {
  it('[FIND-1] finds tools that share no word with the request', async () => {
    const plain = toSearched('box', TOOLS);
    const served = [await withModel(plain, TOOLS, about)];
    const query = 'spin up a whale';
    expect(namesOf(find(query, served, [1, 0.1, 0.1, 0]), served)[0]?.[1]).toBe('zq_run');
    expect(namesOf(find(query, served, [0, 0.1, 0.1, 1]), served)[0]?.[1]).toBe('send_mail');
    expect(find('weather forecast', served, [1, 0.1, 0.1, 0])[0]?.tool).toBe(2);
  });

  it('[FIND-1] gives less weight to vectors of chatter, and more to queries that are not English', async () => {
    const served = [await withModel(toSearched('box', TOOLS), TOOLS, about)];
    const gapOf = (query: string): number => {
      const found = find(query, served, [1, 0.1, 0.1, 0]);
      const scoreOf = (tool: number) => found.find(one => one.tool === tool)?.score ?? 0;
      return scoreOf(0) - scoreOf(1);
    };
    const talk =
      'Hi there, I hope you had a good week. My colleague told me that you could help me with this. ';
    const thanks = ' Thanks a lot, let me know if something is unclear and I will explain.';
    expect(gapOf(`${talk}List songs.${thanks}`)).toBeLessThan(gapOf('List songs.'));
    expect(gapOf('Lieder auflisten')).toBeLessThan(gapOf('songs list'));
  });

  it('[FIND-1] is as without, if the query has no vector or no tool has one of equal dimensions', async () => {
    const plain = [toSearched('box', TOOLS)];
    const served = [await withModel(toSearched('box', TOOLS), TOOLS, about)];
    const expected = namesOf(find('weather', plain), plain);
    expect(namesOf(find('weather', served), served)).toEqual(expected);
    expect(namesOf(find('weather', plain, [1, 0, 0, 0]), plain)).toEqual(expected);
    const longer = [1, 0, 0, 0, 0, 0, 0, 1];
    expect(namesOf(find('weather', served, longer), served)).toEqual(expected);
  });

  it('[FIND-1] treats a tool without a vector as one at the mean', async () => {
    const other = toSearched('new', [toTool('start_whale', 'Start a whale.')]);
    const served = [await withModel(toSearched('box', TOOLS), TOOLS, about), other];
    const found = namesOf(find('start a whale', served, [0, 0.1, 0.1, 1]), served);
    expect(found[0]?.[1]).toBe('start_whale');
    expect(found).toHaveLength(5);
    expect(found.every(([, , score]) => Number(score) >= 0 && Number(score) <= 1)).toBe(true);
  });

  it(`[FIND-1] [ACC-3] is bit for bit what it would be without the hidden tools (seed ${SEED})`, async () => {
    const random = createRandom();
    const words = 'mail song weather container bill list send get start stop'.split(' ');
    for (let round = 0; round < 25; round += 1) {
      const full: Searched[] = [];
      const seen: Searched[] = [];
      for (let s = 0; s < 3; s += 1) {
        const server = { name: `server ${s}`, description: random.pick(words) };
        const tools = Array.from({ length: 1 + random.below(12) }, (_, t) =>
          toTool(`${random.pick(words)}_${t}`, `${random.pick(words)} ${random.pick(words)}`),
        );
        const said = new Map<string, number[]>();
        const saying: About = text => {
          const known = said.get(text) ?? Array.from({ length: 8 }, () => random.next() - 0.5);
          said.set(text, known);
          return known;
        };
        const shown = Uint8Array.from(tools, () => (random.chance(0.5) ? 1 : 0));
        const left = tools.filter((_, t) => shown[t] === 1);
        const hasModel = random.chance(0.7);
        const all = { segment: toSegment(tools), server, shown };
        const some = { segment: toSegment(left), server };
        full.push(hasModel ? await withModel(all, tools, saying) : all);
        seen.push(hasModel ? await withModel(some, left, saying) : some);
      }
      const query = `${random.pick(words)} ${random.pick(words)}`;
      const vector = Array.from({ length: 8 }, () => random.next() - 0.5);
      const [found, expected] = [find(query, full, vector), find(query, seen, vector)];
      expect(namesOf(found, full)).toEqual(namesOf(expected, seen));
    }
  });
});
