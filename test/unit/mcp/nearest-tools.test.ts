/** Suggestions for mistyped names: from the given names, in order, at a cost linear in their number. */
import { describe, expect, it } from 'vitest';
import { nearestNames, nearestTools } from '../../../src/mcp/own-tools/nearest-tools.ts';
import { editsWithin } from '../../../src/shared/util/nearest-name.ts';
import { createRecord } from '../gateway/fakes.ts';

/** The edit distance by its definition, without shortcuts. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

const listingOf = (...names: string[]) => ({
  items: names.map(name => {
    const [server = '', key = ''] = name.split('.');
    return { name, server: createRecord(server), item: { key, raw: new Map<string, string>() } };
  }),
  ttlMs: 0,
  isWhole: true,
});
const LISTING = listingOf(
  'github.create_issue',
  'gitlab.create_issue',
  'github.list_issues',
  'mail.send',
  'mail.sent',
);

describe('the nearest tools', () => {
  it.each([
    ['github.craete_issue', ['github.create_issue', 'gitlab.create_issue']],
    ['github__createIssue', ['github.create_issue', 'gitlab.create_issue']],
    ['create_issue', ['github.create_issue', 'gitlab.create_issue']],
    ['gitub.issue_create', ['github.create_issue', 'gitlab.create_issue']],
    ['jira.list_issues', ['github.list_issues']],
    ['mail.sendd', ['mail.send', 'mail.sent']],
    ['nothing.like_it', []],
    ['', []],
    ['…', []],
  ])('[FIND-2] to %j', (wanted, near) => {
    expect(nearestTools(wanted, LISTING)).toEqual(near);
  });

  it('[FIND-2] are three at most, the nearest first', () => {
    const many = listingOf(...Array.from({ length: 9 }, (_, i) => `a.tool_number_${i}`));
    expect(nearestTools('a.tool_number_4', many)).toEqual([
      'a.tool_number_4',
      'a.tool_number_0',
      'a.tool_number_1',
    ]);
    expect(nearestNames('GitHub', ['gitlab', 'github', 'mail'])).toEqual(['github', 'gitlab']);
  });

  it('[FIND-2] [SEC-4] are found quickly among many names and for a long one', () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `server.${'ab'.repeat(30)}${i}`);
    const listing = listingOf(...names);
    nearestTools('x', listing);
    const from = performance.now();
    nearestTools(`server.${'ba'.repeat(30)}12345`, listing);
    nearestTools('ab'.repeat(100_000), listing);
    expect(performance.now() - from).toBeLessThan(2_000);
  });

  it('[FIND-2] are ranked by the same number of edits as the full table gives, up to a bound', () => {
    let seed = 20_260_728;
    const draw = (below: number) =>
      (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
    const word = () => Array.from({ length: draw(7) }, () => 'abc'[draw(3)]).join('');
    for (let round = 0; round < 3_000; round += 1) {
      const [from, to, most] = [word(), word(), draw(4)];
      const edits = editsBetween(from, to);
      const expected = edits <= most ? edits : undefined;
      expect([from, to, most, editsWithin(from, to, most)]).toEqual([from, to, most, expected]);
    }
  });
});
