/** What is known of the test files of the Worker: which mutants they come by, how long they take, and how often they noticed one. */
import { basename, relative } from 'node:path';
import type { Mutant } from './mutate.ts';
import type { Ended } from './worker-steps.ts';

interface Known {
  passed: number;
  longest: number;
  /** Milliseconds of the whole file. */
  took: number;
  seen: ReadonlySet<number>;
}

const keyOf = ({ file }: Mutant, test: string) => `${file} ${test}`;

export class WorkerTests {
  readonly #known = new Map<string, Known>();
  /** Mutants that were met while modules were read. */
  readonly #loaded = new Set<number>();
  readonly #tried = new Map<string, { killed: number; of: number }>();
  readonly #order = new Map<number, string[]>();

  add(test: string, { passed, longest, seen, loaded }: Ended, took: number): void {
    this.#known.set(test, { passed, longest, took, seen: new Set(seen) });
    for (const id of loaded) this.#loaded.add(id);
  }

  /** Whether a mutant changes what is made when its module is read. */
  isStatic = (id: number) => this.#loaded.has(id);
  isMet = (id: number) => this.isStatic(id) || [...this.#known.values()].some(k => k.seen.has(id));
  isPassed = (test: string, ended: Ended | undefined) =>
    ended?.passed === this.#known.get(test)?.passed;
  timeoutOf = (test: string) => 4_000 + 3 * (this.#known.get(test)?.longest ?? 0);

  /** Remembers how a test did, for other mutants of the same file. */
  learn(mutant: Mutant, test: string, isKilled: boolean): void {
    const key = keyOf(mutant, test);
    const { killed, of } = this.#tried.get(key) ?? { killed: 0, of: 0 };
    this.#tried.set(key, { killed: killed + Number(isKilled), of: of + 1 });
  }

  /** Test files that come by a mutant, the likeliest to notice it soon first. The order of a mutant never changes. */
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
      // A long file has more to say of a mutant than a short one.
      rated.push([test, chance / Math.sqrt(took + 1_000)]);
    }
    return rated.toSorted(([, a], [, b]) => b - a).map(([test]) => test);
  }

  /** How much of what stands near a mutant a test comes by: tests that are about it come by most of it. */
  #share({ id }: Mutant, seen: ReadonlySet<number>): number {
    const NEAR = 40;
    let near = 0;
    for (let other = id - NEAR; other <= id + NEAR; other += 1) if (seen.has(other)) near += 1;
    return (near + 1) ** 2;
  }
}

/** Words of a path without what their plural adds. */
const wordsOf = (path: string) => path.split(/[^a-z]+/).map(word => word.replace(/s$/, ''));

/** Test files that are named like a source are about it. */
function likeness({ file }: Mutant, test: string): number {
  const words = new Set(wordsOf(relative('src', file)));
  return 4 ** wordsOf(basename(test, '.test.ts')).filter(word => words.has(word)).length;
}
