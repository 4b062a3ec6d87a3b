/** What a provider's claims about a person mean: malformed claims are ignored. */
import { describe, expect, it } from 'vitest';
import { groupsOf, mayCome, shownOf } from '../../../src/sign-in/identities/claims.ts';

const settings = {
  scopes: [],
  groups_claim: 'groups',
  group_map: { Staff: 'staff', 'On Call': 'on-call' },
  required_claims: {},
  creates_principals: true,
  takes_assertions: false,
  max_age_seconds: 3_600,
};

describe('groups', () => {
  it.each<[string, string | null, object, string[]]>([
    ['by the map only', 'groups', { groups: ['Staff', 'Admins', 'constructor'] }, ['staff']],
    ['once each', 'groups', { groups: ['On Call', 'Staff', 'Staff'] }, ['on-call', 'staff']],
    ['of one text', 'groups', { groups: 'Staff' }, ['staff']],
    ['at a path', 'realm.roles', { realm: { roles: ['Staff'] } }, ['staff']],
    ['of a name with dots', 'https://x.example/g', { 'https://x.example/g': ['Staff'] }, ['staff']],
    ['of nothing inherited', 'constructor.name', {}, []],
    ['of no claim', null, { groups: ['Staff'] }, []],
    ['of what is no text', 'groups', { groups: [['Staff'], { Staff: 1 }, 1, null] }, []],
    ['of an object', 'groups', { groups: { Staff: true } }, []],
    ['of those in reach', 'groups', { groups: [...Array(2_000).fill('x'), 'Staff'] }, []],
  ])('[ACC-7] come %s', (_what, groups_claim, claims, groups) => {
    expect(groupsOf({ ...claims }, { ...settings, groups_claim })).toEqual(groups);
  });
});

describe('who may sign in', () => {
  const required_claims = { hd: ['acme.example'], groups: ['a', 'b'] };
  it.each<[object, boolean]>([
    [{ hd: 'acme.example', groups: ['x', 'b'] }, true],
    [{ hd: 'acme.example', groups: ['x'] }, false],
    [{ hd: 'acme.example' }, false],
    [{ hd: 'acme.example.evil.example', groups: ['a'] }, false],
    [{ hd: ['ACME.example'], groups: ['a'] }, false],
    [{}, false],
  ])('[ACC-7] with %j: %j', (claims, isWelcome) => {
    expect(mayCome({ ...claims }, { ...settings, required_claims })).toBe(isWelcome);
  });

  it('[ACC-7] is everybody if no claims are required', () => {
    expect(mayCome({}, settings)).toBe(true);
  });
});

describe('the shown name', () => {
  it.each<[object, object]>([
    [
      { name: ' Ada ', email: 'a@x.example' },
      { name: 'Ada', email: 'a@x.example' },
    ],
    [
      { name: '  ', preferred_username: 'ada' },
      { name: 'ada', email: null },
    ],
    [{ name: 7 }, { name: 'sub', email: null }],
    [{ name: 'x'.repeat(300) }, { name: 'x'.repeat(100), email: null }],
  ])('[ACC-7] by %j', (claims, shown) => {
    expect(shownOf({ issuer: 'i', subject: 'sub', claims: { ...claims } })).toEqual(shown);
  });
});
