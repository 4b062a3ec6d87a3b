/**
 * Runs in workerd before each test file: asks the judge which mutant is active, and afterwards reports how many tests passed and which
 * mutants they executed. If a mutant acts while modules load, the modules are loaded again.
 */
import { afterAll, beforeEach, expect, vi } from 'vitest';
import { JUDGE, MAX_TICKS, type Ended, type Step } from './worker-steps.ts';

/** Keeps the original `fetch` before a test replaces it. */
const KEPT = Symbol.for('mutation fetch');
const shared = globalThis as { [KEPT]?: typeof fetch };
const send = (shared[KEPT] ??= fetch.bind(globalThis));
const { testPath = '' } = expect.getState();
const asked = await send(`${JUDGE}/next`, { method: 'POST', body: testPath });
const { mutant, isReadAnew, timeout } = (await asked.json()) as Step;

let ticks = 0;
const seen = new Set<number>();
const loaded = new Set<number>();
let isLoading = true;
Object.assign(globalThis, {
  __isMutant(id: number) {
    if (mutant === 0) (isLoading ? loaded : seen).add(id);
    return id === mutant;
  },
  __tick() {
    ticks += 1;
    if (mutant !== 0 && ticks > MAX_TICKS) throw new Error('this loop does not end');
  },
});
if (isReadAnew) vi.resetModules();
vi.setConfig({ testTimeout: timeout, hookTimeout: timeout });

let passed = 0;
let longest = 0;
let isFailed = false;
beforeEach(({ onTestFailed, onTestFinished, skip, task }) => {
  isLoading = false;
  // One failed test is enough.
  skip(isFailed);
  onTestFailed(() => {
    isFailed = true;
  });
  onTestFinished(() => {
    if (task.result?.state === 'pass') passed += 1;
    longest = Math.max(longest, task.result?.duration ?? 0);
  });
});

afterAll(async () => {
  const ended: Ended = { testPath, mutant, passed, longest, seen: [...seen], loaded: [...loaded] };
  await send(`${JUDGE}/ended`, { method: 'POST', body: JSON.stringify(ended) });
});
