/** Queries beyond a plain request: names, typos, chatter, several tasks, and exclusions. */
import { describe, expect, it } from 'vitest';

import { rank, type Searched } from '../../../src/search/rank/rank.ts';
import { toChattiness } from '../../../src/search/text/chatter.ts';
import { toClauses } from '../../../src/search/text/clauses.ts';
import { toTasks } from '../../../src/search/text/tasks.ts';
import { toCorrections } from '../../../src/search/text/corrections.ts';
import { EMBEDDING, toSearched, toSegment, toTool } from './made.ts';

const TOOLS = [
  toTool('create_issue', 'Open a new issue in a repository.'),
  toTool('merge_pull_request', 'Merge a pull request.'),
  toTool('list_commits', 'List the commits of a branch.'),
];
const CODE = toSearched('GitHub', TOOLS);
const OTHER = toSearched('Forge', [toTool('create_issue', 'File a bug.')]);
const MAIL = toSearched('Post', [
  toTool('send_message', 'Send an email to one or more recipients.'),
  toTool('delete_message', 'Delete an email.'),
  toTool('search', 'Look through the mailbox.'),
]);
const WEATHER = toSearched('Sky', [
  toTool('get_forecast', 'Get the weather forecast for a place.'),
  toTool('get_alerts', 'Get severe weather alerts for a state.'),
]);
const ALL = [CODE, OTHER, MAIL, WEATHER];
const ask = (query: string, searched: readonly Searched[] = ALL): string[] =>
  rank(query, searched, EMBEDDING, 10).map(
    ({ searched: s, tool }) =>
      `${searched[s]?.server.name ?? ''}/${searched[s]?.segment.nameOf(tool) ?? ''}`,
  );

describe('tools requested by name', () => {
  it.each([
    ['merge_pull_request'],
    ['mergePullRequest'],
    ['mergepullrequest'],
    ['merge-pull-request'],
    ['github_merge_pull_request'],
    ['mcp__GitHub__merge_pull_request'],
    ['list the weather with merge_pull_request, please'],
  ])('[FIND-1] %s', query => {
    expect(ask(query)[0]).toBe('GitHub/merge_pull_request');
  });

  it('[FIND-1] the server in front decides between two tools of a name, and several come first', () => {
    expect(ask('forge_create_issue')[0]).toBe('Forge/create_issue');
    expect(ask('mcp__github__create_issue')[0]).toBe('GitHub/create_issue');
    expect(ask('get_alerts and delete_message').slice(0, 2).toSorted()).toEqual([
      'Post/delete_message',
      'Sky/get_alerts',
    ]);
  });

  const NAMES = [
    'plainly',
    'two_words',
    'with-dash',
    'dotted.name',
    'v2_api',
    '__odd__name__',
    `${'x'.repeat(45)}_long`,
    'z'.repeat(300),
    'camelCaseName',
    'überall_suchen',
  ];
  it.each(NAMES)('[FIND-1] in any spelling: %s', name => {
    const decoys = toSearched('Decoys', [toTool('other', NAMES.join(' '))]);
    const odd = toSearched(
      'Odd',
      NAMES.toReversed().map(one => toTool(one)),
    );
    expect(ask(name, [decoys, odd])[0]).toBe(`Odd/${name}`);
    // A match by name scores higher than a found tool.
    expect(rank(name, [decoys, odd], EMBEDDING, 1)[0]?.score).toBeGreaterThan(0.95);
  });

  it('[FIND-1] a name of one word is not treated as a name within a sentence', () => {
    expect(ask('search')[0]).toBe('Post/search');
    expect(ask('search the weather forecast')[0]).toBe('Sky/get_forecast');
  });
});

describe('misspelt words', () => {
  it('[FIND-1] find the intended tool', () => {
    expect(toCorrections('forecsat', EMBEDDING)).toContain('forecast');
    expect(toCorrections('forecast', EMBEDDING)).toEqual([]);
    expect(ask('wether forcast')[0]).toBe('Sky/get_forecast');
  });

  it('[FIND-1] a word that a tool has counts before its correction', () => {
    const odd = toSearched('odd', [toTool('forcast', 'Forcast.')]);
    expect(ask('forcast', [...ALL, odd])[0]).toBe('odd/forcast');
  });
});

describe('more than one task', () => {
  it('[FIND-1] joined tasks take turns', () => {
    const found = ask('merge the pull request. Then send an email to the recipients');
    expect(found.slice(0, 2).toSorted()).toEqual([
      'GitHub/merge_pull_request',
      'Post/send_message',
    ]);
  });

  it.each([
    ['list issues; merge the pull request', ['list issues', 'merge the pull request']],
    ['list issues. Also, merge it all', ['list issues', 'merge it all']],
    ['forecast, and then alerts', ['forecast', 'alerts']],
    ['send a mail, list issues and after that fork it', ['send a mail, list issues', 'fork it']],
    ['list issues and pull requests, commits. Alerts too', []],
    ['authentic plush toys, thence alsolist', []],
    ['list issues; thanks a lot', []],
    ['thanks a lot; list issues', []],
    ['; then also', []],
  ])('[FIND-1] its tasks: %s', (query, tasks) => {
    expect(toTasks(query)).toEqual(tasks);
  });

  it('[FIND-1] a task of one word takes turns too', () => {
    const found = ask('merge the pull request, and then forecast');
    expect(found.slice(0, 2)).toEqual(['GitHub/merge_pull_request', 'Sky/get_forecast']);
  });

  it('[FIND-1] chatter around a request does not hide it', () => {
    const talk =
      'Hi there, I hope you had a good week. My colleague told me that you could help me with this. ';
    const thanks = ' Thanks a lot, let me know if something is unclear and I will explain.';
    expect(ask(`${talk}Get the weather forecast for Rome.${thanks}`)[0]).toBe('Sky/get_forecast');
    expect(toChattiness(thanks)).toBeGreaterThan(toChattiness('Get the weather forecast for Rome'));
  });

  it.each([
    ['Send an email, not delete message', ['delete message']],
    ["Don't delete message, but send an email", ['delete message']],
    ["Don't forget to send an email", []],
    ['I do not know how to send an email', []],
    ['search without', []],
  ])('[FIND-1] the exclusions: %s', (query, excluded) => {
    expect(toClauses(query).excluded).toEqual(excluded);
  });

  it('[FIND-1] an excluded tool is not first', () => {
    expect(ask('an email, not delete message')[0]).toBe('Post/send_message');
  });

  it('[FIND-1] the worst texts are read in bounded time', () => {
    const started = performance.now();
    for (const text of [
      'not ',
      ', and ',
      'a_',
      "don't ",
      '. ',
      'qzxv ',
      '_',
      'aB',
      '; ',
      ' then ',
    ]) {
      rank(text.repeat(50_000), ALL, EMBEDDING, 10);
    }
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('hidden tools', () => {
  it.each([
    'create_issue',
    'merge_pull_request and get_alerts',
    'wether forcast',
    'merge the pull request. Then send an email, not delete message',
    `${'I hope you had a good week and thank you for all of it. '.repeat(4)}List the commits.`,
  ])('[FIND-1] do not affect a single bit: %s', query => {
    const shown = Uint8Array.of(0, 1, 0);
    const full = [{ ...CODE, shown }, MAIL, WEATHER];
    const seen = [
      { ...CODE, segment: toSegment(TOOLS.filter((_, i) => shown[i] === 1)) },
      MAIL,
      WEATHER,
    ];
    const show = (searched: readonly Searched[]) =>
      rank(query, searched, EMBEDDING, 10).map(({ searched: s, tool, score }) => [
        searched[s]?.segment.nameOf(tool),
        score,
      ]);
    expect(show(full)).toEqual(show(seen));
    expect(show(full).map(([name]) => name)).not.toContain('create_issue');
  });
});
