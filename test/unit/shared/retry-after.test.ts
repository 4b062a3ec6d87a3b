/** How long a response asks a client to wait. */
import { expect, it } from 'vitest';
import { toRetryAfterMs } from '../../../src/shared/util/retry-after.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const HOUR_MS = 3_600_000;

it.each([
  ['', undefined],
  ['soon', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['0', 0],
  [' 90 ', 90_000],
  ['99999999', HOUR_MS],
  ['Fri, 27 Nov 2026 12:10:00 GMT', 600_000],
  ['Fri, 27 Nov 2026 11:00:00 GMT', 0],
  ['Sat, 28 Nov 2026 12:00:00 GMT', HOUR_MS],
])('[OPS-7] reads %j, in seconds or as a date, up to a bound', (value, expected) => {
  const headers = new Headers({ 'retry-after': value });
  expect(toRetryAfterMs(headers, NOW, HOUR_MS)).toBe(expected);
});

it('[OPS-7] reads nothing where there is no header', () => {
  expect(toRetryAfterMs(new Headers(), NOW, HOUR_MS)).toBeUndefined();
});
