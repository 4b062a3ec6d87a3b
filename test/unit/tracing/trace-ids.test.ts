/** Ids of traces and spans: of the right length and unique, though many are drawn together. */
import { expect, it } from 'vitest';
import { randomHex } from '../../../src/tracing/trace-ids.ts';

const MANY = 20_000;

it.each([
  [8, /^[0-9a-f]{16}$/],
  [16, /^[0-9a-f]{32}$/],
])('[OPS-7] makes ids of %i bytes', (bytes, form) => {
  const ids = Array.from({ length: MANY }, () => randomHex(bytes));
  expect(ids.filter(id => !form.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(MANY);
});

it('[OPS-7] reuses no digits when lengths alternate', () => {
  const ids = Array.from({ length: MANY }, (_, at) => randomHex(at % 2 === 0 ? 16 : 8));
  const halves = ids.flatMap(id => id.match(/.{16}/g) ?? []);
  expect(new Set(halves).size).toBe(1.5 * MANY);
});
