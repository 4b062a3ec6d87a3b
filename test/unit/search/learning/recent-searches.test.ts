/** Which search a call belongs to. */
import { describe, expect, it } from 'vitest';

import { RECENT_MS, RecentSearches } from '../../../../src/search/learning/recent-searches.ts';
import { toLearnedWords } from '../../../../src/search/learning/words.ts';

const NOW = 1_000_000_000;

describe('recent searches', () => {
  it('[FIND-4] return the words of a search that found the tool, once', () => {
    const recent = new RecentSearches();
    recent.add('ada', ['issue'], ['a', 'b'], NOW);
    expect(recent.take('ada', 'c', NOW)).toBeUndefined();
    expect(recent.take('bob', 'b', NOW)).toBeUndefined();
    expect(recent.take('ada', 'b', NOW)).toEqual(['issue']);
    expect(recent.take('ada', 'b', NOW)).toBeUndefined();
    expect(recent.take('ada', 'a', NOW)).toEqual(['issue']);
  });

  it('[FIND-4] prefer the search that ranked the tool best, and the later of two', () => {
    const recent = new RecentSearches();
    recent.add('ada', ['mail'], ['a', 'b'], NOW);
    recent.add('ada', ['issue'], ['b', 'a'], NOW + 1);
    recent.add('ada', ['ticket'], ['b', 'a'], NOW + 2);
    expect(recent.take('ada', 'b', NOW + 3)).toEqual(['ticket']);
    expect(recent.take('ada', 'a', NOW + 3)).toEqual(['mail']);
  });

  it('[FIND-4] expire after five minutes', () => {
    const recent = new RecentSearches();
    recent.add('ada', ['issue'], ['a', 'b'], NOW);
    expect(recent.take('ada', 'a', NOW + RECENT_MS - 1)).toEqual(['issue']);
    expect(recent.take('ada', 'b', NOW + RECENT_MS)).toBeUndefined();
  });

  it('[FIND-4] [SEC-9] are bounded in principals, searches and tools', () => {
    const recent = new RecentSearches();
    const tools = Array.from({ length: 50 }, (_, n) => `t${n}`);
    recent.add('ada', ['many'], tools, NOW);
    expect(recent.take('ada', 't9', NOW)).toEqual(['many']);
    expect(recent.take('ada', 't10', NOW)).toBeUndefined();
    for (let n = 0; n < 8; n += 1) recent.add('ada', [`w${n}`], ['x'], NOW);
    expect(recent.take('ada', 't1', NOW)).toBeUndefined();
    for (let n = 0; n < 8; n += 1) expect(recent.take('ada', 'x', NOW)).toEqual([`w${7 - n}`]);
    recent.add('ada', ['old'], ['y'], NOW);
    for (let n = 0; n < 500; n += 1) recent.add(`p${n}`, ['w'], ['y'], NOW);
    expect(recent.take('ada', 'y', NOW)).toBeUndefined();
    expect(recent.take('p499', 'y', NOW)).toEqual(['w']);
  });

  it('[FIND-4] identify a query by its words, up to a number of them', () => {
    expect(toLearnedWords('Please create the issues, creating an issue')).toEqual([
      'creat',
      'issu',
    ]);
    const letters = [...'abcdefghijkl'];
    const words = letters.map(letter => `word${letter}`);
    expect(toLearnedWords(words.join(' '))).toHaveLength(12);
    expect(toLearnedWords([...words, 'another'].join(' '))).toEqual([]);
  });
});
