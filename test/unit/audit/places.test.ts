/** Subjects of a server are found in chunks as they are in SQL. */
import { expect, it } from 'vitest';
import { isInPlace, toPlace } from '../../../src/audit/places.ts';

it.each(['a', '\u{1F600}', '\uFF71', '\uFFFD', ''])(
  '[SEC-6] a tool named %o is at the server that it is named after',
  tool => {
    expect(isInPlace(`notes.${tool}`, toPlace('notes.'))).toBe(true);
  },
);

it('[SEC-6] subjects of other servers, and of other ids, are elsewhere', () => {
  expect(isInPlace('notes2.a', toPlace('notes.'))).toBe(false);
  expect(isInPlace('srv_10', ['srv_1', 'srv_1'])).toBe(false);
  expect(isInPlace('srv_1', ['srv_1', 'srv_1'])).toBe(true);
});
