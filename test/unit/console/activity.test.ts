/** The activity in the console: the search that a URL describes, how rows are described and counted, and the link to explain a refusal. */
import { describe, expect, it } from 'vitest';
import { byOutcome, denied, slow, toBars } from '../../../console/src/views/activity/bars.ts';
import { toSearch, toWhyPath } from '../../../console/src/views/activity/search.ts';
import { toDeed, toEnding, toField, toText } from '../../../console/src/views/activity/words.ts';

const NOW = Date.parse('2026-11-02T09:00:00.000Z');
const search = (query: string) => toSearch(new URLSearchParams(query), NOW);

describe('a search from the URL', () => {
  it('[OPS-1] has the known filters, and nothing else of the URL', () => {
    expect(search('principal=Bo&server=+notes+&tool=&outcome=denied&kind=calls&row=1&x=2')).toEqual(
      {
        principal: 'Bo',
        server: 'notes',
        outcome: 'denied',
        kind: 'calls',
      },
    );
    expect(search('outcome=fine&kind=all&range=ever&since=2026-01-01')).toEqual({});
    expect(search('outcome=constructor&range=constructor')).toEqual({});
  });

  it('[OPS-1] covers a span until now, or a given one', () => {
    expect(search('range=day')).toEqual({ since: '2026-11-01T09:00:00.000Z' });
    const own = search('range=own&since=2026-01-02T03:04&until=soon');
    expect(own).toEqual({ since: new Date('2026-01-02T03:04').toISOString() });
  });
});

describe('rows', () => {
  it.each([
    ['tool.call', 'called a tool'],
    ['server.update', 'changed a server'],
    ['invitation.create', 'made an invitation'],
    ['sign_in.create', 'signed in'],
    ['tools/list', 'tools/list'],
    ['x.constructor', 'x.constructor'],
  ])('[OPS-1] are described in plain words: %s', (action, told) => {
    expect(toDeed(action)).toBe(told);
  });

  it('[OPS-1] show their outcome, also for a code without words here', () => {
    expect(toEnding({ outcome: 'done', code: null })).toBe('It was done.');
    expect(toEnding({ outcome: 'failed', code: 'disk_full' })).toBe('It failed: disk full.');
    expect(toField('grace_seconds')).toBe('Grace seconds');
    expect(toText({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(toText(undefined)).toBe('');
  });

  it('[OPS-1] are drawn as bars over time, also for periods without rows', () => {
    const at = (second: number) => new Date(NOW + second * 1_000).toISOString();
    const none = { done: 0, denied: 0, failed: 0, cancelled: 0, unknown: 0, slow: 0 };
    const counts = {
      since: at(0),
      until: at(25),
      step_seconds: 10,
      counted_since: at(0),
      parts: [
        { ...none, at: at(0), done: 2, cancelled: 1, unknown: 1, failed: 1 },
        { ...none, at: at(20), denied: 3, slow: 2 },
      ],
    };
    const [from, middle, last] = [NOW, NOW + 10_000, NOW + 20_000];
    expect(toBars(counts, byOutcome)).toEqual([
      { from, well: 4, badly: 1 },
      { from: middle, well: 0, badly: 0 },
      { from: last, well: 0, badly: 3 },
    ]);
    expect(toBars(counts, denied).map(({ badly }) => badly)).toEqual([0, 0, 3]);
    expect(toBars(counts, slow).map(({ well }) => well)).toEqual([0, 0, 2]);
  });
});

it.each([
  ['notes.echo', { server: 'notes', tool: 'echo' }],
  ['notes:a.b', { server: 'notes', tool: 'a.b' }],
  ['notes__echo', { server: 'notes', tool: 'echo' }],
  ['echo', { tool: 'echo' }],
  ['n.a&b=c', { server: 'n', tool: 'a&b=c' }],
])('[OPS-1] asks why %s was refused', (subject, asked) => {
  const path = toWhyPath({ principal: 'p', token: 't', subject });
  const query = new URL(path, 'https://example.com').searchParams;
  expect(Object.fromEntries(query)).toEqual({ principal: 'p', token: 't', ...asked });
});
