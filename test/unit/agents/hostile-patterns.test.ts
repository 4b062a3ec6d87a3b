/** Patterns and schemas built to take long: each is checked within a bound, and none is wrongly taken to fit. */
import { expect, it } from 'vitest';
import { HOSTILE_PATTERNS, HOSTILE_SCHEMAS } from '../../fixtures/hostile-patterns.ts';
import { checkSchema, type SchemaFit } from '../../../src/agents/ask/schema-check.ts';
import { costOf, leastCostOf } from '../hostile-texts.ts';

const STEPS = 20_000;
/** Maximum CPU time in milliseconds; bounded checks take a quarter of it. */
const MOST_MS = 100;

const cases = [
  ...HOSTILE_PATTERNS.map(({ pattern, text }) => ({
    name: pattern.slice(0, 60),
    schema: { pattern },
    value: text,
  })),
  ...HOSTILE_SCHEMAS,
];

it.each(cases)('[LLM-4] [SEC-4] checks within the bound: $name', ({ schema, value }) => {
  let checked: SchemaFit | undefined;
  const cost = leastCostOf(() => {
    checked = checkSchema(schema, value, STEPS);
  }, MOST_MS / 2);
  expect(cost).toBeLessThan(MOST_MS);
  expect(checked).toBeDefined();
});

it('[LLM-4] [SEC-4] the patterns would be slow with a backtracking engine', () => {
  const cost = costOf(() => /^(a+)+$/.test(`${'a'.repeat(23)}b`));
  expect(cost).toBeGreaterThan(MOST_MS);
});
