/** The ranking: what it finds, what it must not depend on, and what its scores mean. */
import { describe, expect, it } from 'vitest';

import { rank, type Ranked, type Searched } from '../../../src/search/rank/rank.ts';
import { TUNING } from '../../../src/search/rank/tuning.ts';
import { createRandom, SEED } from '../seeded.ts';
import { EMBEDDING, toSearched, toSegment, toTool } from './made.ts';

const CODE = toSearched(
  'GitHub',
  [
    toTool('create_issue', 'Open a new issue in a repository.'),
    toTool('merge_pull_request', 'Merge a pull request.'),
    toTool('list_commits', 'List the commits of a branch.'),
    toTool('search_code', 'Search code across repositories.'),
  ],
  'Repositories, issues and pull requests.',
);
const MAIL = toSearched('Post', [
  toTool('send_message', 'Send an email to one or more recipients.'),
  toTool('delete_message', 'Delete an email.'),
  toTool('list_labels', 'List the labels of the mailbox.'),
]);
const WEATHER = toSearched('Sky', [
  toTool('get_forecast', 'Get the weather forecast for a place.', {
    parameters: [{ name: 'latitude' }, { name: 'longitude', description: 'Degrees east.' }],
  }),
  toTool('get_alerts', 'Get severe weather alerts for a state.'),
]);
const ALL = [CODE, MAIL, WEATHER];

const ask = (query: string, searched: readonly Searched[] = ALL, limit = 10): Ranked[] =>
  rank(query, searched, EMBEDDING, limit);
const nameOf = (found: Ranked | undefined, searched: readonly Searched[] = ALL): string =>
  found ? (searched[found.searched]?.segment.nameOf(found.tool) ?? '') : '';
const withoutPlace = (found: readonly Ranked[], searched: readonly Searched[]) =>
  found.map(one => [searched[one.searched]?.server.name, nameOf(one, searched), one.score]);

const WORDS =
  'alpha beta issue mail weather send list create search delete commit branch label place report'.split(
    ' ',
  );

describe('what is found', () => {
  it.each([
    ['create an issue', 'create_issue'],
    ['mergePullRequest', 'merge_pull_request'],
    ['email someone', 'send_message'],
    ['will it rain tomorrow', 'get_forecast'],
    ['longitude', 'get_forecast'],
    ['remove mail', 'delete_message'],
    ['DELETE an E-MAIL, please!', 'delete_message'],
  ])('[FIND-1] %s', (query, name) => {
    expect(nameOf(ask(query)[0])).toBe(name);
  });

  it('[FIND-1] ranks a tool whose description begins with the words before one that has them further on', () => {
    const [lead, rest] = ['Converts audio to text.', 'Works on any file of the folder.'];
    const tools = [toTool('b', `${lead} ${rest}`), toTool('a', `${rest} ${lead}`)];
    expect(ask('convert audio', [toSearched('s', tools)]).map(({ tool }) => tool)).toEqual([0, 1]);
    expect(ask('any file', [toSearched('s', tools)]).map(({ tool }) => tool)).toEqual([1, 0]);
  });

  it('[FIND-1] ranks by a meaningful word before an everyday one that is as rare here', () => {
    const tools = [toTool('b', 'invoice'), toTool('a', 'time')];
    const words = { ...TUNING, semanticWeight: 0 };
    const found = rank('invoice time', [toSearched('s', tools)], EMBEDDING, 2, words);
    expect(found.map(({ tool }) => tool)).toEqual([0, 1]);
  });

  it('[FIND-1] ranks tools of a named server first', () => {
    const first = ask('github').slice(0, 4);
    expect(first.every(({ searched }) => searched === 0)).toBe(true);
  });

  it('[FIND-1] returns what exists, at most as many as requested', () => {
    expect(ask('issue', ALL, 2)).toHaveLength(2);
    expect(ask('issue', ALL, 100)).toHaveLength(9);
    expect(ask('issue', ALL, 3)).toEqual(ask('issue', ALL, 100).slice(0, 3));
    expect(ask('issue', ALL, 0)).toEqual([]);
    expect(ask('issue', [])).toEqual([]);
    expect(ask('issue', [toSearched('empty', [])])).toEqual([]);
  });
});

describe('scores', () => {
  it('[FIND-1] go from 0 to 1 and fall', () => {
    for (const query of [
      'create issue',
      'x',
      '',
      'the',
      '東京',
      '\u202e\u200b',
      'mail '.repeat(5_000),
    ]) {
      const scores = ask(query).map(({ score }) => score);
      expect(scores.every(score => score >= 0 && score <= 1)).toBe(true);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    }
  });

  it('[FIND-1] are low for nonsense and high for good matches', () => {
    const good = ask('send an email to recipients')[0]?.score ?? 0;
    for (const nonsense of ['zqxv wjkp', 'gubnar tofwip lemzod', '!!!', '']) {
      expect(ask(nonsense)[0]?.score ?? 0).toBeLessThan(0.1);
    }
    expect(good).toBeGreaterThan(0.5);
  });

  it('[FIND-1] are equal for equal tools, which are ordered by server, then by name', () => {
    const twins = ['三', '一', '二'].map(name => toSearched(name, [toTool('same', 'Send a fax.')]));
    const found = ask('send a fax', twins);
    expect(found.map(({ searched }) => twins[searched]?.server.name)).toEqual(['一', '三', '二']);
    const both = [toSearched('s', [toTool('fax-one', 'Send.'), toTool('Fax_One', 'Send.')])];
    expect(ask('fax', both).map(one => nameOf(one, both))).toEqual(['Fax_One', 'fax-one']);
  });
});

describe('what a ranking must not depend on', () => {
  it(`[FIND-1] hidden tools: they do not affect a single bit (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 25; round += 1) {
      const full: Searched[] = [];
      const seen: Searched[] = [];
      for (let s = 0; s < 4; s += 1) {
        const server = {
          name: `server ${s} ${random.pick(WORDS)}`,
          description: random.pick(WORDS),
        };
        const tools = Array.from({ length: 1 + random.below(12) }, (_, t) =>
          toTool(
            `${random.pick(WORDS)}_${t}`,
            Array.from({ length: random.below(9) }, () => random.pick(WORDS)).join(' '),
          ),
        );
        const shown = Uint8Array.from(tools, () => (random.chance(0.5) ? 1 : 0));
        full.push({ segment: toSegment(tools), server, shown });
        seen.push({ segment: toSegment(tools.filter((_, t) => shown[t] === 1)), server });
      }
      const query = `${random.pick(WORDS)} ${random.pick(WORDS)} rain`;
      const [found, expected] = [ask(query, full, 50), ask(query, seen, 50)];
      expect(withoutPlace(found, full)).toEqual(withoutPlace(expected, seen));
      expect(found.every(({ searched, tool }) => full[searched]?.shown?.[tool] === 1)).toBe(true);
    }
  });

  it('[FIND-1] a wholly hidden server', () => {
    const hidden = { ...CODE, shown: new Uint8Array(CODE.segment.size) };
    expect(
      withoutPlace(ask('create an issue', [hidden, MAIL, WEATHER]), [hidden, MAIL, WEATHER]),
    ).toEqual(withoutPlace(ask('create an issue', [MAIL, WEATHER]), [MAIL, WEATHER]));
  });

  it('[FIND-1] the order of the catalogs, and earlier queries', () => {
    const first = withoutPlace(ask('search issues'), ALL);
    ask('weather');
    const turned = ALL.toReversed();
    expect(withoutPlace(ask('search issues', turned), turned)).toEqual(first);
    const renamed = [{ ...CODE, server: { name: 'Other', description: '' } }];
    expect(ask('github', renamed)[0]?.score ?? 0).toBeLessThan(
      ask('github', [CODE])[0]?.score ?? 0,
    );
  });

  it('[FIND-1] a segment of another table is searched by words only, without vectors', () => {
    const other = { ...CODE, segment: { ...CODE.segment, embeddingId: EMBEDDING.id + 1 } };
    expect(nameOf(ask('create issue', [other])[0], [other])).toBe('create_issue');
  });

  it('[FIND-4] the lift from uses reorders, but adds no tool and passes no named one', () => {
    const twins = [
      toSearched('North', [
        toTool('open_ticket', 'Open a ticket.'),
        toTool('boil_egg', 'Boil it.'),
      ]),
      toSearched('South', [toTool('open_ticket', 'Open a ticket.')]),
    ];
    const asked = (query: string, limit: number, places: Record<string, number>) =>
      rank(query, twins, EMBEDDING, limit, TUNING, undefined, (at, tool) => {
        return places[`${at} ${tool}`] ?? 0;
      }).map(({ searched, tool }) => `${searched} ${tool}`);
    const plain = asked('open a ticket', 3, {});
    expect(plain.slice(0, 2).toSorted()).toEqual(['0 0', '1 0']);
    const [first = '', second = ''] = plain;
    expect(asked('open a ticket', 3, { [second]: 0.5 })).toEqual([second, first, '0 1']);
    // A tool outside the best is not added, whatever its lift.
    expect(asked('open a ticket', 1, { [second]: 100 })).toEqual([first]);
    expect(asked('South open_ticket', 3, { '0 1': 0.5, '0 0': 0.5 })[0]).toBe('1 0');
    const none = rank('open a ticket', twins, EMBEDDING, 3);
    expect(rank('open a ticket', twins, EMBEDDING, 3, TUNING, undefined, () => 0)).toEqual(none);
  });
});
