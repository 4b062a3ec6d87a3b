/** Servers in patterns: stored by id if named exactly, and shown by their current name. */
import { describe, expect, it } from 'vitest';
import {
  findNamed,
  toShownPattern,
  toShownServer,
  toStoredPattern,
  toStoredServer,
  withGone,
} from '../../../src/servers/server-names.ts';

const GITHUB = { id: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10', name: 'GitHub' };
const JIRA = { id: '1c8e3d2f-7a1b-4b68-8c2d-3a8e0a2a5b21', name: 'jira' };
const servers = [GITHUB, JIRA];

describe('findNamed', () => {
  it('[ACC-3] accepts an id, or a name in any case', () => {
    expect(findNamed(JIRA.id, servers)).toBe(JIRA);
    expect(findNamed('github', servers)).toBe(GITHUB);
    expect(findNamed('JIRA', servers)).toBe(JIRA);
    expect(findNamed('jir', servers)).toBeUndefined();
    expect(findNamed('', servers)).toBeUndefined();
  });

  it('[ACC-3] prefers the server with the id to one whose name is that id', () => {
    const impostor = { id: 'x', name: JIRA.id };
    expect(findNamed(JIRA.id, [impostor, JIRA])).toBe(JIRA);
  });
});

describe('patterns over servers', () => {
  it('[ACC-3] are stored by id for a named server, and shown by its name', () => {
    const stored = toStoredServer('github', servers) ?? '';
    expect(stored).toBe(GITHUB.id);
    expect(toShownServer(stored, [{ ...GITHUB, name: 'forge' }])).toBe('forge');
    expect(toShownServer(stored, [])).toBe(GITHUB.id);
  });

  it('[ACC-3] with a wildcard are unchanged', () => {
    for (const pattern of ['*', 'git*', '*hub', 'nobody*']) {
      expect(toStoredServer(pattern, servers)).toBe(pattern);
      expect(toShownServer(pattern, servers)).toBe(pattern);
    }
  });

  it('[ACC-3] of unknown servers are refused', () => {
    expect(toStoredServer('nobody', servers)).toBeUndefined();
    expect(toStoredServer('', servers)).toBeUndefined();
  });
});

describe('qualified patterns', () => {
  it.each([
    ['github', GITHUB.id, 'GitHub'],
    ['GITHUB.*', `${GITHUB.id}.*`, 'GitHub.*'],
    [`${GITHUB.id}.get_*`, `${GITHUB.id}.get_*`, 'GitHub.get_*'],
    ['jira.a.b', `${JIRA.id}.a.b`, 'jira.a.b'],
    ['*.get_*', '*.get_*', '*.get_*'],
    ['*', '*', '*'],
    ['git*.x', 'git*.x', 'git*.x'],
  ])('[ACC-4] %s is stored as %s and shown as %s', (pattern, stored, shown) => {
    expect(toStoredPattern(pattern, servers)).toBe(stored);
    expect(toShownPattern(stored, servers)).toBe(shown);
    expect(toStoredPattern(shown, servers)).toBe(stored);
  });

  it.each(['nobody', 'nobody.x', '.x', 'github.', '*.', '', '.'])('[ACC-4] %j fails', pattern => {
    expect(toStoredPattern(pattern, servers)).toBeUndefined();
  });
});

describe('withGone', () => {
  it('[ACC-4] lets a stored pattern be written again, though its server was deleted', () => {
    // For several servers, each of which is listed once.
    expect(withGone(servers, [`${JIRA.id}.y`, GITHUB.id])).toEqual(servers);
    const known = withGone([JIRA], [`${GITHUB.id}.get_*`, GITHUB.id, 'git*.x', `${JIRA.id}.y`]);
    expect(known).toEqual([JIRA, { id: GITHUB.id, name: GITHUB.id }]);
    expect(toStoredPattern(`${GITHUB.id}.get_*`, known)).toBe(`${GITHUB.id}.get_*`);
  });
});
