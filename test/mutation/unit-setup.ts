/**
 * Makes the mutant of a run the active one, ends loops that it never leaves, and notes how the tests of a file ended and, where no mutant
 * is active, which of them they come by.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect } from 'vitest';

/** Where the number of the active mutant stands, and what is noted. A worker outlives a run, so both are read anew for each file. */
const notes = process.env['PORTICO_MUTATION_NOTES'] ?? '';
const MAX_TICKS = 20_000_000;
let ticks = 0;
const [mutant = 0, maxCalls = 0] = readFileSync(join(notes, 'active'), 'utf8')
  .split(' ')
  .map(Number);
/** How often it was asked which mutant is active: a loop of a test may never end because of one. */
let calls = 0;
const seen = new Set<number>();
Object.assign(globalThis, {
  __isMutant(id: number) {
    calls += 1;
    if (mutant === 0) seen.add(id);
    else if (calls > maxCalls) throw new Error('this test does not end');
    return id === mutant;
  },
  __tick() {
    ticks += 1;
    if (mutant !== 0 && ticks > MAX_TICKS) throw new Error('this loop does not end');
  },
});

const note = (name: string, text: string) => writeFileSync(join(notes, name), text);

beforeEach(({ onTestFailed, skip }) => {
  // One that fails is enough.
  skip(existsSync(join(notes, 'failed')));
  onTestFailed(() => note('failed', ''));
});

afterAll(() => {
  const { testPath = '' } = expect.getState();
  const name = createHash('sha256').update(testPath).digest('hex');
  note(`ended-${name}`, JSON.stringify({ testPath, calls, seen: [...seen] }));
});
