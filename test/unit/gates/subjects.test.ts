/** The rules for a commit's subject, shown on samples. */
import { expect, it } from 'vitest';
import { checkSubject } from '../../../local/subjects.ts';

it.each([
  'session: keep the id of the upstream after eviction',
  'ci: bring the bundle under its bound',
  'mcp: refuse a second spelling of a name',
])('accepts "%s"', subject => {
  expect(checkSubject(subject)).toBeUndefined();
});

it.each([
  ['keep the id of the upstream', 'area'],
  ['session: kept the id.', 'full stop'],
  ['session: keeping the id', 'no order'],
  ['session: added an id', 'no order'],
  ['session: the id is kept', 'no order'],
  ['session: Keep the id', 'capital'],
  [`session: keep ${'x'.repeat(60)}`, '72 at most'],
])('refuses "%s"', (subject, fault) => {
  expect(checkSubject(subject)).toContain(fault);
});
