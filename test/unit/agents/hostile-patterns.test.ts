/** Patterns and schemas that are made to take long: each is answered within a bound, and none is taken for a fit that it is not. */
import { expect, it } from 'vitest';
import { HOSTILE_PATTERNS, HOSTILE_SCHEMAS } from '../../fixtures/hostile-patterns.ts';
import { checkSchema, type SchemaFit } from '../../../src/agents/ask/schema-check.ts';
import { costOf, leastCostOf } from '../hostile-texts.ts';

const STEPS = 20_000;
/** Most time of the processor, in milliseconds; what is bounded takes a quarter of it. */
const MOST_MS = 100;

const cases = [
  ...HOSTILE_PATTERNS.map(({ pattern, text }) => ({
    name: pattern.slice(0, 60),
    schema: { pattern },
    value: text,
  })),
  ...HOSTILE_SCHEMAS,
];

it.each(cases)('[LLM-4] [SEC-4] takes no long time: $name', ({ schema, value }) => {
  let checked: SchemaFit | undefined;
  const cost = leastCostOf(() => {
    checked = checkSchema(schema, value, STEPS);
  }, MOST_MS / 2);
  expect(cost).toBeLessThan(MOST_MS);
  expect(checked).toBeDefined();
});

it('[LLM-4] [SEC-4] would be slow with an engine that goes back', () => {
  const cost = costOf(() => /^(a+)+$/.test(`${'a'.repeat(23)}b`));
  expect(cost).toBeGreaterThan(MOST_MS);
});
