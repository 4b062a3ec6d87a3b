/**
 * Makes the mutant of a run the active one, ends loops that it never leaves, and notes how the tests of a file ended and, where no mutant
 * is active, which of them they come by.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect } from 'vitest';

/** Where the number of the active mutant stands, and what is noted. A worker outlives a run, so both are read anew for each file. */
const notes = process.env['PORTICO_MUTATION_NOTES'] ?? '';
const MAX_TICKS = 20_000_000;
let ticks = 0;
const mutant = Number(readFileSync(join(notes, 'active'), 'utf8'));
const seen = new Set<number>();
Object.assign(globalThis, {
  __isMutant(id: number) {
    if (mutant === 0) seen.add(id);
    return id === mutant;
  },
  __tick() {
    ticks += 1;
    if (mutant !== 0 && ticks > MAX_TICKS) throw new Error('this loop does not end');
  },
});

const note = (name: string, text: string) => writeFileSync(join(notes, name), text);

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => note('failed', ''));
});

afterAll(() => {
  const { testPath = '' } = expect.getState();
  const name = createHash('sha256').update(testPath).digest('hex');
  note(`ended-${name}`, JSON.stringify({ testPath, seen: [...seen] }));
});
