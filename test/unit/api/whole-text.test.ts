/** Lone surrogates are found anywhere in a body. */
import { expect, it } from 'vitest';
import { wholeText } from '../../../src/api/whole-text.ts';

it('[REG-1] returns a body without lone surrogates as it is', () => {
  for (const body of [null, 5, 'a😀', [], { a: ['😀', { b: '\0' }] }]) {
    expect(wholeText(body)).toBe(body);
  }
});

it.each<[body: unknown, field: string]>([
  ['\ud800', '(body)'],
  [{ name: 'a', exclude: ['x', '\udc00\ud800'] }, 'exclude.1'],
  [{ members: { groups: { a: 'b\ud83d' } } }, 'members.groups.a'],
  [{ group_map: { '\ud800': 'staff' } }, 'group_map'],
])('[REG-1] names the field where %j has a lone surrogate', (body, field) => {
  expect(() => wholeText(body)).toThrow(`${field}: contains half of a character`);
});
