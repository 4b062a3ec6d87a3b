/**
 * `npm run bench`: Portico against a bare relay Worker, in one workerd, in front of one upstream.
 *
 * Owns: the whole run, its output (standard output, `bench/results/`) and its exit code: 0 if every response was right, 1 with one line if
 * anything failed, 2 for wrong usage. Ends what it started, even after a failure.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

import { measureAudit } from './audit.ts';
import { measureTelemetry } from './telemetry.ts';
import { measureCache } from './cache.ts';
import { measureCpu } from './cpu.ts';
import { measureCeilings, measureRows } from './measure.ts';
import type { Ceilings } from './measure.ts';
import { HELP, parseOptions } from './options.ts';
import type { Options } from './options.ts';
import { profileCases } from './profile.ts';
import { measureSdk } from './sdk.ts';
import { measureSearch } from './search.ts';
import { startBench } from './setup.ts';
import { measureStdio } from './stdio.ts';
import { toTable } from './table.ts';
import { measureTokens } from './tokens.ts';

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));

function toNotes(options: Options, ceilings: Ceilings): string {
  const perSecond = (values: number[]): string =>
    values.map(value => Math.round(value).toLocaleString('en-US')).join(' / ');
  return [
    `Medians of ${options.rounds} interleaved rounds of ${options.secondsPerSlice} s on ${cpus().length} cores;`,
    'relay, Portico, upstream and load generator share them. Legacy clients have a session each;',
    'tools/list has 1,000 tools of 10 servers and reached no upstream',
    '(the relay answers with the same bytes, kept ready).',
    `At 1 / 64 clients "ok" from a bare Worker gives ${perSecond(ceilings.bareWorker)} req/s`,
    `and the upstream alone ${perSecond(ceilings.upstreamAlone)} req/s.`,
  ].join('\n');
}

async function run(options: Options): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  await mkdir(RESULTS, { recursive: true });
  if (options.audit) return void process.stdout.write(`${await measureAudit(options, say)}\n`);
  if (options.telemetry) {
    return void process.stdout.write(`${await measureTelemetry(options, say)}\n`);
  }
  if (options.cache) return void process.stdout.write(`${await measureCache(options, say)}\n`);
  if (options.stdio) return void process.stdout.write(`${await measureStdio(options, say)}\n`);
  if (options.sdk) return void process.stdout.write(`${await measureSdk(options, say)}\n`);
  if (options.search) return void process.stdout.write(`${await measureSearch(say)}\n`);
  if (options.tokens) return void process.stdout.write(`${await measureTokens(say)}\n`);
  say('starting the upstream, the relay and Portico');
  const bench = await startBench({ inspect: options.profile });
  try {
    if (options.profile) return await profileCases(bench, RESULTS);
    if (options.cpu) {
      return void process.stdout.write(`${await measureCpu(bench, options, say)}\n`);
    }
    const ceilings = await measureCeilings(bench);
    const rows = await measureRows(bench, options, round =>
      say(round === 0 ? 'warm-up round' : `round ${round} of ${options.rounds}`),
    );
    const table = toTable(rows);
    const notes = toNotes(options, ceilings);
    const machine = { cores: cpus().length, cpu: cpus()[0]?.model, node: process.version };
    const record = { measuredAt: new Date().toISOString(), machine, options, ceilings, rows };
    await writeFile(`${RESULTS}latest.json`, `${JSON.stringify(record, null, 2)}\n`);
    await writeFile(`${RESULTS}latest.md`, `${table}\n\n${notes}\n`);
    process.stdout.write(`${table}\n\n${notes}\n`);
  } finally {
    await bench.stop();
  }
}

function readOptions(): Options | undefined {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(2);
  }
}

const options = readOptions();
if (!options) {
  process.stdout.write(HELP);
} else {
  try {
    await run(options);
  } catch (error) {
    process.stderr.write(`bench failed: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
