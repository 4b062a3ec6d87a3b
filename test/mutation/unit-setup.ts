/**
 * Activates the mutant of a run, ends endless loops, and records whether the tests of a file passed and, when no mutant is active, which
 * mutants they execute.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect } from 'vitest';

/**
 * The folder with the number of the active mutant and with the records. A worker process serves several runs, so both are read again for
 * each file.
 */
const notes = process.env['PORTICO_MUTATION_NOTES'] ?? '';
const MAX_TICKS = 20_000_000;
let ticks = 0;
const [mutant = 0, maxCalls = 0] = readFileSync(join(notes, 'active'), 'utf8')
  .split(' ')
  .map(Number);
/** How often the code asked which mutant is active: a mutant can make a test's own loop endless. */
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
  // One failed test is enough.
  skip(existsSync(join(notes, 'failed')));
  onTestFailed(() => note('failed', ''));
});

afterAll(() => {
  const { testPath = '' } = expect.getState();
  const name = createHash('sha256').update(testPath).digest('hex');
  note(`ended-${name}`, JSON.stringify({ testPath, calls, seen: [...seen] }));
});
