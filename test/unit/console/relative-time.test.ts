/** How long ago something was, or how long it takes until then. */
import { expect, it } from 'vitest';
import { toRelative } from '../../../console/src/parts/relative-time.ts';

const NOW = Date.parse('2026-11-27T12:00:00.000Z');
const DAY_MS = 86_400_000;

it.each([
  ['the end of a token that was just made for 30 days', 30 * DAY_MS - 5_000, 'in 30 days'],
  ['the end of a sign-in of 12 hours, a minute after it', DAY_MS / 2 - 60_000, 'in 12 hours'],
  ['tomorrow', DAY_MS + 60_000, 'tomorrow'],
  ['almost two minutes ago', -119_000, '1 minute ago'],
  ['a moment ago', -59_000, 'just now'],
])('[OPS-1] %s', (_what, apartMs, text) => {
  expect(toRelative(new Date(NOW + apartMs).toISOString(), NOW)).toBe(text);
});
