/** Patterns built to take long, in the Worker's engine. Its clock stands still between two waits. */
import { expect, it } from 'vitest';
import { checkSchema } from '../../../src/agents/ask/schema-check.ts';
import { HOSTILE_PATTERNS, HOSTILE_SCHEMAS } from '../../fixtures/hostile-patterns.ts';

const STEPS = 20_000;
/** In milliseconds; the minimum over `TRIES` runs counts, since other processes use the CPU too. */
const MOST_MS = 250;
const TRIES = 20;

async function now(): Promise<number> {
  await scheduler.wait(1);
  return performance.now();
}

async function leastOf(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let tried = 0; tried < TRIES && least > MOST_MS / 2; tried += 1) {
    const startedAt = await now();
    work();
    least = Math.min(least, (await now()) - startedAt);
  }
  return least;
}

it('[LLM-4] the clock measures work', async () => {
  const startedAt = await now();
  /^(a+)+$/.test(`${'a'.repeat(26)}b`);
  expect((await now()) - startedAt).toBeGreaterThan(MOST_MS);
});

it.each([
  ...HOSTILE_PATTERNS.map(({ pattern, text }) => ({ schema: { pattern }, value: text as unknown })),
  ...HOSTILE_SCHEMAS,
])('[LLM-4] a hostile schema is checked within the bound: %#', async ({ schema, value }) => {
  expect(await leastOf(() => checkSchema(schema, value, STEPS))).toBeLessThan(MOST_MS);
});
