/**
 * Judges mutants by the Worker tests. One workerd contains all mutants and runs test file after test file; before each file the judge says
 * which mutant is active (`worker-setup.ts`). Of the files that execute a mutant the likeliest to notice it are tried, in rounds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { Response, type Request } from 'miniflare';
import { createVitest } from 'vitest/node';
import { answerOutbound } from '../fixtures/outbound.ts';
import { inWorkerd, workerTests } from '../../vitest.config.ts';
import type { Case } from './judge.ts';
import type { Mutant } from './mutate.ts';
import { loadTests } from './related.ts';
import { WorkerTests } from './worker-tests.ts';
import { JUDGE, type Ended, type Step } from './worker-steps.ts';

/** The most test files tried per mutant. */
const MAX_ROUNDS = 6;
/** Mutants that are judged together. */
const BATCH = 60;
/** After this many files one file runs without a mutant, to show whether an earlier mutant left something behind. */
const CONTROL_EVERY = 12;
/** Files that take longer are not used to judge. */
const MAX_FILE_MS = 30_000;
/** A file that takes this much longer than its tests may is considered hung. */
const HANGING_MS = 60_000;

interface Planned extends Step {
  test: string;
}

/** Runs the steps in the order in which they are planned. */
class InOrder {
  shard = <T>(files: T) => files;
  sort = <T>(files: T) => files;
}

/** Kills the workerd that this process started: a workerd in an endless loop receives no message. */
function killWorkerd(): void {
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const [name = '', parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/[()]/).slice(1);
      if (name === 'workerd' && Number(parent?.trim().split(' ')[1]) === process.pid)
        process.kill(Number(pid), 'SIGKILL');
    } catch {
      // The process has ended meanwhile.
    }
  }
}

export async function judgeByWorkerTests({
  codes,
  mutants,
  endsAt,
  testsNamed,
  tell,
}: Case): Promise<void> {
  let steps: Planned[] = [];
  let ended: (Ended | undefined)[] = [];
  let startedAt: number[] = [];
  let endedAt: number[] = [];
  let at = -1;

  async function answer(request: Request): Promise<Response> {
    if (!request.url.startsWith(JUDGE)) return answerOutbound(request);
    const text = await request.text();
    if (request.url === `${JUDGE}/next`) {
      at += 1;
      startedAt[at] = Date.now();
      const step = steps[at];
      if (step?.test !== text) throw new Error(`${text} is not the next`);
      return Response.json(step);
    }
    ended[at] = JSON.parse(text) as Ended;
    endedAt[at] = Date.now();
    return new Response(null, { status: 204 });
  }

  const start = () =>
    createVitest('test', {
      config: false,
      watch: false,
      fsModuleCache: false,
      reporters: [{}],
      sequence: { sequencer: InOrder as never },
      projects: [
        {
          plugins: [
            {
              name: 'mutants',
              enforce: 'pre',
              transform: (_code: string, id: string) => codes.get(id.split('?')[0] ?? ''),
            },
            inWorkerd(answer as typeof answerOutbound),
          ],
          test: {
            ...workerTests,
            maxWorkers: 1,
            setupFiles: ['./test/mutation/worker-setup.ts', ...workerTests.setupFiles],
          },
        },
      ],
    });
  let vitest = await start();

  /** Resolves when no message came within the time limit. */
  function hanging(signal: AbortSignal): Promise<'hangs'> {
    const { promise, resolve } = Promise.withResolvers<'hangs'>();
    const timer = setInterval(() => {
      const limit = HANGING_MS + 3 * (steps[at]?.timeout ?? 0);
      if (Date.now() - (endedAt[at] ?? startedAt[at] ?? Infinity) > limit) resolve('hangs');
    }, 1_000);
    signal.addEventListener('abort', () => clearInterval(timer));
    return promise;
  }

  /**
   * Runs steps. If one hangs, its workerd is killed and a new one started; the results of that step and of all later ones are undefined.
   */
  async function run(planned: Planned[]): Promise<(Ended | undefined)[]> {
    [steps, ended, startedAt, endedAt, at] = [planned, [], [], [], -1];
    const project = vitest.projects.find(({ name }) => name === 'worker');
    if (!project) throw new Error('there is no project');
    const specifications = planned.map(({ test }) => project.createSpecification(test));
    const watched = new AbortController();
    const running = vitest.runTestSpecifications(specifications);
    if ((await Promise.race([running, hanging(watched.signal)])) === 'hangs') {
      process.stdout.write(`never ends: ${basename(planned[at]?.test ?? '')}\n`);
      running.catch(() => {});
      killWorkerd();
      void vitest.close().catch(() => {});
      vitest = await start();
    }
    watched.abort();
    return planned.map((_, i) => ended[i]);
  }

  const tests = new WorkerTests();
  const all = [...loadTests('test/worker').keys()]
    .filter(test => testsNamed.test(basename(test, '.test.ts')))
    .toSorted();
  const first = await run(
    all.map(test => ({ test, mutant: 0, isReadAnew: false, timeout: 120_000 })),
  );
  for (const [i, each] of first.entries()) {
    const test = all[i] ?? '';
    const took = (endedAt[i] ?? 0) - (startedAt[i] ?? 0);
    process.stdout.write(
      `${relative('.', test)}: ${each ? `${each.passed} tests in ${took} ms` : 'fails'}\n`,
    );
    if (each && took < MAX_FILE_MS) tests.add(test, each, took);
  }

  const planOf = (mutant: Mutant, test: string): Planned => ({
    test,
    mutant: mutant.id,
    isReadAnew: tests.isStatic(mutant.id),
    timeout: tests.timeoutOf(test),
  });

  /** Returns the ids of the mutants that their paired test noticed. */
  async function noticed(pairs: readonly [Mutant, string][]): Promise<Set<number>> {
    const killed = new Set<number>();
    let left = [...pairs];
    while (left.length > 0) {
      const planned: Planned[] = [];
      for (const [i, [mutant, test]] of left.entries()) {
        planned.push(planOf(mutant, test));
        const isControl = i % CONTROL_EVERY === CONTROL_EVERY - 1 || i === left.length - 1;
        if (isControl) planned.push({ test, mutant: 0, isReadAnew: false, timeout: 60_000 });
      }
      // Modules that were loaded under a mutant must not be reused for the next.
      for (const [i, step] of planned.entries()) {
        step.isReadAnew ||= tests.isStatic(planned[i - 1]?.mutant ?? 0);
      }
      const results = await run(planned);
      let doubtful: number[] = [];
      let done = 0;
      for (const [i, { mutant, test }] of planned.entries()) {
        if (i > at) break;
        const isPassed = tests.isPassed(test, results[i]);
        if (mutant === 0) {
          // The control failed, so something was left behind: judge again, alone, the mutants noticed since the last control.
          if (!isPassed) break;
          doubtful = [];
          continue;
        }
        done += 1;
        if (!isPassed) {
          killed.add(mutant);
          doubtful.push(mutant);
        }
      }
      const again = left.slice(0, done).filter(([{ id }]) => doubtful.includes(id));
      if (again.length > 0) {
        process.stdout.write(`judged again: ${again.length}\n`);
        // When a mutant runs alone, no other can have left anything behind.
        for (const [mutant, test] of again) {
          const [result] = await run([planOf(mutant, test)]);
          if (tests.isPassed(test, result)) killed.delete(mutant.id);
        }
      }
      left = left.slice(Math.max(done, 1));
    }
    return killed;
  }

  for (let from = 0; from < mutants.length; from += BATCH) {
    const batch = mutants.slice(from, from + BATCH);
    let left = [...batch];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const pairs = left.flatMap((mutant): [Mutant, string][] => {
        const test = tests.likeliest(mutant)[round];
        return test === undefined ? [] : [[mutant, test]];
      });
      if (pairs.length === 0) break;
      if (Date.now() > endsAt) break;
      const killed = await noticed(pairs);
      for (const [mutant, test] of pairs) tests.learn(mutant, test, killed.has(mutant.id));
      left = left.filter(({ id }) => !killed.has(id));
      process.stdout.write(`round ${round}: ${killed.size} of ${pairs.length}\n`);
    }
    if (Date.now() > endsAt) break;
    for (const mutant of batch) {
      tell({ mutant, isKilled: !left.includes(mutant), isMet: tests.isMet(mutant.id) });
    }
  }
  await vitest.close();
}
