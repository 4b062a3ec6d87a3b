/** Judges mutants by the unit tests that execute them, one mutant per run. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createVitest } from 'vitest/node';
import type { Case } from './judge.ts';
import type { Mutant } from './mutate.ts';
import { loadTests } from './related.ts';

/** What a test file reports after a run without any mutant. */
interface Ended {
  seen: number[];
  calls: number;
}

export async function judgeByUnitTests({ codes, mutants, endsAt, tell }: Case): Promise<void> {
  const notes = mkdtempSync(join(tmpdir(), 'mutation-'));
  process.env['PORTICO_MUTATION_NOTES'] = notes;
  const vitest = await createVitest(
    'test',
    {
      config: false,
      watch: false,
      // No later run may find these mutated modules in the cache, and this run must find none of an earlier one.
      fsModuleCache: false,
      include: ['test/unit/**/*.test.ts'],
      setupFiles: ['test/mutation/unit-setup.ts'],
      isolate: false,
      maxWorkers: 1,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      restoreMocks: true,
      reporters: [{}],
    },
    {
      plugins: [
        {
          name: 'mutants',
          enforce: 'pre',
          transform: (_code: string, id: string) => codes.get(id.split('?')[0] ?? ''),
        },
      ],
    },
  );
  const [project] = vitest.projects;
  if (!project) throw new Error('there is no project');

  /** How often a test file asks which mutant is active, in a run without any. */
  const callsOf = new Map<string, number>();
  const endings = () => readdirSync(notes).filter(name => name.startsWith('ended-'));

  /**
   * Returns whether tests pass under a mutant; 0 is none. The tests report it in files: for test files that ran before, Vitest returns the
   * earlier results.
   */
  async function passes(mutant: number, files: readonly string[]): Promise<boolean> {
    for (const name of readdirSync(notes)) rmSync(join(notes, name));
    const maxCalls = 1_000_000 + 10 * Math.max(...files.map(test => callsOf.get(test) ?? 0));
    writeFileSync(join(notes, 'active'), `${mutant} ${maxCalls}`);
    const specifications = files.map(test => project?.createSpecification(test));
    await vitest.runTestSpecifications(specifications.filter(each => each !== undefined));
    return endings().length === files.length && !existsSync(join(notes, 'failed'));
  }

  /** Runs each test file once without a mutant, to record which mutants it executes. */
  const related = [...loadTests('test/unit')].filter(([, part]) =>
    [...codes.keys()].some(file => part.has(file)),
  );
  const testsOf = new Map<number, string[]>();
  for (const [test] of related) {
    if (!(await passes(0, [test]))) throw new Error(`${relative('.', test)} fails as it is`);
    for (const name of endings()) {
      const { seen, calls } = JSON.parse(readFileSync(join(notes, name), 'utf8')) as Ended;
      callsOf.set(test, calls);
      for (const id of seen) testsOf.set(id, [...(testsOf.get(id) ?? []), test]);
    }
  }

  /** Tests of the same folder run first: they are the likeliest to notice the mutant. */
  async function isNoticed({ id, file }: Mutant): Promise<boolean> {
    const folder = dirname(relative('src', file));
    const [near, far] = [[] as string[], [] as string[]];
    for (const test of testsOf.get(id) ?? []) {
      (dirname(relative('test/unit', test)) === folder ? near : far).push(test);
    }
    for (const chosen of [near, far]) {
      if (chosen.length > 0 && !(await passes(id, chosen))) return true;
    }
    return false;
  }

  for (const mutant of mutants) {
    if (Date.now() > endsAt) break;
    tell({ mutant, isKilled: await isNoticed(mutant), isMet: testsOf.has(mutant.id) });
  }
  await vitest.close();
  rmSync(notes, { recursive: true });
}
