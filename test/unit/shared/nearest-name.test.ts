/** Which known name a mistyped one is nearest to. */
import { expect, it } from 'vitest';
import { nearestName } from '../../../src/shared/util/nearest-name.ts';

it.each([
  ['list', ['list', 'lift'], 'list'],
  ['lst', ['list', 'lost'], 'list'],
  ['LIST', ['list'], 'list'],
  ['litsing', ['listing'], 'listing'],
  ['remove', ['list', 'add'], undefined],
  ['', ['ab'], 'ab'],
  ['abc', [], undefined],
  ['x'.repeat(65), ['x'.repeat(64)], undefined],
])('[SEC-4] %j of %j is %j', (name, known, meant) => {
  expect(nearestName(name, known)).toBe(meant);
});
