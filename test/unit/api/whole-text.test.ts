/** Halves of characters are found wherever they are in a body. */
import { expect, it } from 'vitest';
import { wholeText } from '../../../src/api/whole-text.ts';

it('[REG-1] gives back a body of whole characters as it is', () => {
  for (const body of [null, 5, 'a😀', [], { a: ['😀', { b: '\0' }] }]) {
    expect(wholeText(body)).toBe(body);
  }
});

it.each<[body: unknown, field: string]>([
  ['\ud800', '(body)'],
  [{ name: 'a', exclude: ['x', '\udc00\ud800'] }, 'exclude.1'],
  [{ members: { groups: { a: 'b\ud83d' } } }, 'members.groups.a'],
  [{ group_map: { '\ud800': 'staff' } }, 'group_map'],
])('[REG-1] says where %j has half of one', (body, field) => {
  expect(() => wholeText(body)).toThrow(`${field}: contains half of a character`);
});
