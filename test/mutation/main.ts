/**
 * Mutation tests: changes the code in small ways, one at a time, and tells which changes no unit test notices. Sources are given as paths
 * or folders; without any, those whose faults let somebody in. `npm run mutation -- src/access --shard 1/4` does a quarter of them.
 *
 * A change is judged by the unit tests that import its file. What only the tests of the Worker notice is listed as alive here.
 */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';
import { loadTests } from './related.ts';
import { mutate, type Mutant } from './mutate.ts';

const USUAL = [
  'src/access',
  'src/gateway',
  'src/upstream/guard.ts',
  'src/upstream/guarded-fetch.ts',
  'src/audit',
  'src/mcp/admit.ts',
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shard: { type: 'string', default: '1/1' },
    report: { type: 'string' },
    minutes: { type: 'string', default: '60' },
  },
});
const [shard = 1, shards = 1] = values.shard.split('/').map(Number);
const endsAt = Date.now() + Number(values.minutes) * 60_000;

function sourcesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [resolve(path)];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return names.filter(name => name.endsWith('.ts')).map(name => resolve(join(path, name)));
}

const sources = (positionals.length > 0 ? positionals : USUAL).flatMap(sourcesOf).toSorted();
const tests = loadTests('test/unit');
const codes = new Map<string, string>();
const mutants: Mutant[] = [];
const uncovered: string[] = [];
for (const file of sources) {
  if (![...tests.values()].some(part => part.has(file))) {
    uncovered.push(relative('.', file));
    continue;
  }
  const made = mutate(file, readFileSync(file, 'utf8'), mutants.length + 1);
  codes.set(file, made.code);
  mutants.push(...made.mutants);
}

const notes = mkdtempSync(join(tmpdir(), 'mutation-'));
process.env['PORTICO_MUTATION_NOTES'] = notes;

const vitest = await createVitest(
  'test',
  {
    config: false,
    watch: false,
    // What is changed here must be found by no later run, and nothing of an earlier one here.
    fsModuleCache: false,
    include: ['test/unit/**/*.test.ts'],
    setupFiles: ['test/mutation/setup.ts'],
    isolate: false,
    maxWorkers: 1,
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

const endings = () => readdirSync(notes).filter(name => name.startsWith('ended-'));

/** Whether tests pass under a mutant; 0 is none. They say so themselves: of files that ran before, Vitest tells the results of then. */
async function passes(mutant: number, files: readonly string[]): Promise<boolean> {
  for (const name of readdirSync(notes)) rmSync(join(notes, name));
  writeFileSync(join(notes, 'active'), String(mutant));
  const specifications = files.map(test => project?.createSpecification(test));
  await vitest.runTestSpecifications(specifications.filter(each => each !== undefined));
  return endings().length === files.length && !existsSync(join(notes, 'failed'));
}

/** Which test files come by which mutants: each is run once, without any. */
const related = [...tests].filter(([, part]) => [...codes.keys()].some(file => part.has(file)));
const testsOf = new Map<number, string[]>();
for (const [test] of related) {
  if (!(await passes(0, [test]))) throw new Error(`${relative('.', test)} fails as it is`);
  for (const name of endings()) {
    const { seen } = JSON.parse(readFileSync(join(notes, name), 'utf8')) as { seen: number[] };
    for (const id of seen) testsOf.set(id, [...(testsOf.get(id) ?? []), test]);
  }
}

/** Tests of the same folder come first: they are the likeliest to notice. */
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

const alive: (Mutant & { isMet: boolean })[] = [];
let killed = 0;
for (const mutant of mutants) {
  if (mutant.id % shards !== shard - 1) continue;
  if (Date.now() > endsAt) break;
  if (await isNoticed(mutant)) {
    killed += 1;
    continue;
  }
  const isMet = testsOf.has(mutant.id);
  alive.push({ ...mutant, isMet });
  const { line, from, to } = mutant;
  const what = isMet ? 'ALIVE' : 'UNMET';
  process.stdout.write(`${what} ${relative('.', mutant.file)}:${line}  ${from}  →  ${to}\n`);
}
await vitest.close();
rmSync(notes, { recursive: true });

const all = killed + alive.length;
process.stdout.write(`${killed} of ${all} killed, ${mutants.length} in all\n`);
if (uncovered.length > 0) process.stdout.write(`In no unit test: ${uncovered.join(', ')}\n`);
if (values.report !== undefined) {
  const shown = alive.map(mutant => ({ ...mutant, file: relative('.', mutant.file) }));
  writeFileSync(values.report, JSON.stringify({ killed, all, alive: shown, uncovered }, null, 1));
}
process.exit(0);
