/** Statistics of the Worker test files: which mutants they execute, how long they take, and how often they noticed a mutant. */
import { basename, relative } from 'node:path';
import type { Mutant } from './mutate.ts';
import type { Ended } from './worker-steps.ts';

interface Known {
  passed: number;
  longest: number;
  /** Duration of the whole file, in milliseconds. */
  took: number;
  seen: ReadonlySet<number>;
}

const keyOf = ({ file }: Mutant, test: string) => `${file} ${test}`;

export class WorkerTests {
  readonly #known = new Map<string, Known>();
  /** Mutants that were executed while modules loaded. */
  readonly #loaded = new Set<number>();
  readonly #tried = new Map<string, { killed: number; of: number }>();
  readonly #order = new Map<number, string[]>();

  add(test: string, { passed, longest, seen, loaded }: Ended, took: number): void {
    this.#known.set(test, { passed, longest, took, seen: new Set(seen) });
    for (const id of loaded) this.#loaded.add(id);
  }

  /** Whether a mutant acts while its module loads. */
  isStatic = (id: number) => this.#loaded.has(id);
  isMet = (id: number) => this.isStatic(id) || [...this.#known.values()].some(k => k.seen.has(id));
  isPassed = (test: string, ended: Ended | undefined) =>
    ended?.passed === this.#known.get(test)?.passed;
  timeoutOf = (test: string) => 4_000 + 3 * (this.#known.get(test)?.longest ?? 0);

  /** Records whether a test noticed a mutant; used to rank tests for other mutants of the same file. */
  learn(mutant: Mutant, test: string, isKilled: boolean): void {
    const key = keyOf(mutant, test);
    const { killed, of } = this.#tried.get(key) ?? { killed: 0, of: 0 };
    this.#tried.set(key, { killed: killed + Number(isKilled), of: of + 1 });
  }

  /** Returns the test files that execute a mutant, those likely to notice it soonest first. The order is fixed per mutant. */
  likeliest(mutant: Mutant): readonly string[] {
    let order = this.#order.get(mutant.id);
    if (!order) this.#order.set(mutant.id, (order = this.#ordered(mutant)));
    return order;
  }

  #ordered(mutant: Mutant): string[] {
    const isStatic = this.isStatic(mutant.id);
    const rated: [string, number][] = [];
    for (const [test, { seen, took }] of this.#known) {
      if (!isStatic && !seen.has(mutant.id)) continue;
      const { killed, of } = this.#tried.get(keyOf(mutant, test)) ?? { killed: 0, of: 0 };
      const chance = ((killed + 1) / (of + 2)) * this.#share(mutant, seen) * likeness(mutant, test);
      // Divides by the duration, because a long file notices more of any mutant than a short one.
      rated.push([test, chance / Math.sqrt(took + 1_000)]);
    }
    return rated.toSorted(([, a], [, b]) => b - a).map(([test]) => test);
  }

  /** How many of the mutants nearby a test executes: a test about this code executes most of them. */
  #share({ id }: Mutant, seen: ReadonlySet<number>): number {
    const NEAR = 40;
    let near = 0;
    for (let other = id - NEAR; other <= id + NEAR; other += 1) if (seen.has(other)) near += 1;
    return (near + 1) ** 2;
  }
}

/** The words of a path, without a plural's `s`. */
const wordsOf = (path: string) => path.split(/[^a-z]+/).map(word => word.replace(/s$/, ''));

/** Rates how alike a test file's name and a source's are: files with like names test that source. */
function likeness({ file }: Mutant, test: string): number {
  const words = new Set(wordsOf(relative('src', file)));
  return 4 ** wordsOf(basename(test, '.test.ts')).filter(word => words.has(word)).length;
}
