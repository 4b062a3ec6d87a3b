/** What the patterns of rules, tokens and toolsets match. */
import { describe, expect, it } from 'vitest';
import { matches, matchesServer, toMatcher } from '../../../src/shared/util/name-pattern.ts';

const github = { id: 'id-1', name: 'GitHub' };

describe('a pattern', () => {
  it.each([
    ['*', '', true],
    ['*', 'anything.at-all', true],
    ['a*c', 'abbbc', true],
    ['a*c', 'abbb', false],
    ['a**c', 'ac', true],
    ['create_*', 'create_issue', true],
    ['*_issue', 'create_issue', true],
    ['*_issue', 'create_issues', false],
    ['*te_is*', 'create_issue', true],
    ['*te_is*', 'create-issue', false],
    ['create_*', 'CREATE_issue', false],
    ['a.b', 'axb', false],
    ['(a+)+$', 'aaaa', false],
    ['abc*', 'abcd', true],
    ['abc*', 'xabc', false],
    ['*bc', 'abc', true],
    ['*bc', 'abcd', false],
    ['*b*', 'abc', true],
    ['*b*', 'ac', false],
    ['a*b*c', 'abxbc', true],
    ['a*b*c', 'acb', false],
    ['', '', true],
    ['', 'a', false],
  ])('[ACC-3] %j over %j: %j', (pattern, text, wanted) => {
    expect([matches(pattern, text), toMatcher(pattern)(text)]).toEqual([wanted, wanted]);
  });

  it('[ACC-3] [SEC-4] takes no exponential time', () => {
    expect(matches(`${'*a'.repeat(8)}b`, 'a'.repeat(300))).toBe(false);
  });

  it('[ACC-3] matches a server by its id, or its name in any case', () => {
    expect(matchesServer('github', github)).toBe(true);
    expect(matchesServer('GIT*', github)).toBe(true);
    expect(matchesServer('id-1', github)).toBe(true);
    expect(matchesServer('ID-1', github)).toBe(false);
    expect(matchesServer('git', github)).toBe(false);
    const id = '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10';
    expect(matchesServer(id, { id: 'another', name: id })).toBe(false);
    expect(matchesServer(id, { id, name: 'any' })).toBe(true);
  });
});
