/**
 * Mutation tests: makes small changes to the code, one at a time, and reports the changes that no test notices. Sources are given as paths
 * or folders; the default is the code whose faults could let an attacker in. `npm run mutation -- src/access --shard 1/4` runs a quarter of
 * them.
 *
 * A change is judged by the unit tests that execute it, or with `--by worker` by the Worker tests that do.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { Verdict } from './judge.ts';
import type { Mutant } from './mutate.ts';
import { loadSources, titleOf } from './sources.ts';
import { judgeByUnitTests } from './unit-judge.ts';
import { judgeByWorkerTests } from './worker-judge.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    by: { type: 'string', default: 'unit' },
    /** Names of the Worker test files that judge, as a regular expression. */
    tests: { type: 'string', default: '' },
    shard: { type: 'string', default: '1/1' },
    /** The report of an earlier run: judge only the mutants that survived there. */
    alive: { type: 'string' },
    /** How many mutants to judge, drawn at random with the seed. */
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    report: { type: 'string' },
    minutes: { type: 'string', default: '60' },
  },
});
const [shard = 1, shards = 1] = values.shard.split('/').map(Number);
const endsAt = Date.now() + Number(values.minutes) * 60_000;

/** Draws mutants; the same seed gives the same draw (xorshift). */
function drawn(mutants: readonly Mutant[], seed: number): Mutant[] {
  let state = seed * 2_654_435_761 + 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const places = mutants.map(mutant => ({ mutant, place: next() }));
  return places.toSorted((a, b) => a.place - b.place).map(({ mutant }) => mutant);
}

interface Report {
  alive: { title: string }[];
}

const { codes, mutants, equal, stale } = loadSources(positionals);
for (const title of stale) process.stdout.write(`Not there any more: ${title}\n`);
let chosen = mutants.filter(({ id }) => id % shards === shard - 1);
if (values.alive !== undefined && existsSync(values.alive)) {
  const { alive } = JSON.parse(readFileSync(values.alive, 'utf8')) as Report;
  const titles = new Set(alive.map(({ title }) => title));
  chosen = chosen.filter(mutant => titles.has(titleOf(mutant)));
}
if (values.sample !== undefined) {
  chosen = drawn(chosen, Number(values.seed)).slice(0, Number(values.sample));
}

const verdicts: Verdict[] = [];
function tell(verdict: Verdict): void {
  verdicts.push(verdict);
  const { mutant, isKilled, isMet } = verdict;
  if (isKilled) return;
  const { file, line, from, to } = mutant;
  const what = isMet ? 'ALIVE' : 'UNMET';
  process.stdout.write(`${what} ${relative('.', file)}:${line}  ${from}  →  ${to}\n`);
}

const judge = values.by === 'worker' ? judgeByWorkerTests : judgeByUnitTests;
const testsNamed = new RegExp(values.tests);
await judge({ codes, mutants: chosen, endsAt, testsNamed, tell });

const alive = verdicts.filter(({ isKilled }) => !isKilled);
const killed = verdicts.length - alive.length;
const left = chosen.length - verdicts.length;
process.stdout.write(
  `${killed} of ${verdicts.length} killed, ${left} not judged, ${equal} that change nothing\n`,
);
if (values.report !== undefined) {
  const shown = alive.map(({ mutant, isMet }) => ({ title: titleOf(mutant), isMet, ...mutant }));
  const byFile = Object.groupBy(verdicts, ({ mutant }) => relative('.', mutant.file));
  const files = Object.entries(byFile).map(([file, of = []]) => {
    return { file, killed: of.filter(({ isKilled }) => isKilled).length, judged: of.length };
  });
  writeFileSync(values.report, JSON.stringify({ killed, left, files, alive: shown }, null, 1));
}
process.exit(0);
