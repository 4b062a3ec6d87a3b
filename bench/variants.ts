/**
 * The cost of settings: `tools/call` of a modern client through Portico with and without some settings, in alternating slices of one run.
 *
 * Owns: a host for each, so that only the settings differ, and a second one without them, whose distance from 1 shows how much two equal
 * hosts differ. Hosts are restarted a few times, since the first requests shape a host for its lifetime. Each idles while another is
 * measured.
 */
import { findChildren } from '../local/watchdog.ts';
import { cpuUs } from './cpu.ts';
import { createCases, measureSlice, type Case } from './measure.ts';
import type { Options } from './options.ts';
import { toTable } from './retrieval/text-table.ts';
import { MAX_CONNECTIONS, startBench, type Bench } from './setup.ts';
import { median } from './statistics.ts';
import { toSummary, type Summary } from './table.ts';

const CLIENTS = [1, MAX_CONNECTIONS] as const;
const STARTS = 4;

/** Name of the hosts without the settings in the table. */
const OFF = 'off';
const OFF_AGAIN = 'off, once more';

/** Settings by their name in the table. */
export type Variants = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Side {
  name: string;
  bench: Bench;
  measured: Case;
  /** Process id of its workerd. */
  pid: number;
}

/** A slice, with workerd's processor time per request. */
interface Slice extends Summary {
  processorUs: number;
}

/** Slices of a side at a number of clients, by start and round. */
type Slices = Map<string, Slice[][]>;

/**
 * Runs all rounds, some after each start; returns a table.
 * @param without the baseline settings
 */
export async function measureVariants(
  without: Readonly<Record<string, string>>,
  wanted: Variants,
  options: Options,
  say: (line: string) => void,
): Promise<string> {
  const all = { [OFF]: without, ...wanted, [OFF_AGAIN]: without };
  const slices: Slices = new Map();
  const starts = Math.min(STARTS, options.rounds);
  for (let start = 0; start < starts; start += 1) {
    say(`start ${start + 1} of ${starts}: Portico ${Object.keys(all).length} times`);
    const sides: Side[] = [];
    try {
      for (const [name, env] of Object.entries(all)) sides.push(await startSide(name, env));
      await measureStart(sides, start, { ...options, rounds: options.rounds / starts }, slices);
    } finally {
      for (const { bench } of sides) await bench.stop();
    }
  }
  const names = Object.keys(all).filter(name => name !== OFF);
  return toText(names, slices);
}

async function startSide(name: string, env: Readonly<Record<string, string>>): Promise<Side> {
  const others = findChildren('workerd');
  const bench = await startBench({ env: { ...env } });
  const pid = findChildren('workerd').find(child => !others.includes(child));
  if (pid === undefined) throw new Error('workerd was not found in the process table');
  const measured = (await createCases(bench)).find(
    ({ upstreamRequests, era }) => upstreamRequests === 1 && era === 'modern',
  );
  if (!measured) throw new Error('there is no case to measure');
  return { name, bench, measured, pid };
}

/** The rounds of one start; the first warms up the hosts and does not count. */
async function measureStart(
  sides: readonly Side[],
  start: number,
  options: Options,
  slices: Slices,
): Promise<void> {
  const durationMs = options.secondsPerSlice * 1_000;
  for (let round = 0; round <= options.rounds; round += 1) {
    const turned = [...sides.slice(round % sides.length), ...sides.slice(0, round % sides.length)];
    for (const clients of CLIENTS) {
      for (const { name, bench, measured, pid } of round % 2 === 0 ? turned : turned.toReversed()) {
        const slice = { clients, durationMs, exact: round > 0 };
        const before = cpuUs(pid);
        const sample = await measureSlice(bench, measured, 'portico', slice);
        const processorUs = (cpuUs(pid) - before) / sample.latenciesMs.length;
        if (round === 0) continue;
        const key = `${name} ${clients}`;
        const known = slices.get(key) ?? [];
        slices.set(key, known);
        (known[start] ??= []).push({ ...toSummary(sample), processorUs });
      }
    }
  }
}

/** One row per variant and number of clients: medians of all rounds, and the lowest and highest median of the starts. */
function toText(names: readonly string[], slices: Slices): string {
  const rows = names.flatMap(name =>
    CLIENTS.map(clients => {
      const own = slices.get(`${name} ${clients}`) ?? [];
      const others = slices.get(`${OFF} ${clients}`) ?? [];
      const ratiosOf = (pick: (slice: Slice) => number): string => {
        const byStart = own.map((rounds, start) =>
          rounds.map((slice, round) => {
            const other = others[start]?.[round];
            if (!other) throw new Error('a round is missing');
            return pick(slice) / pick(other);
          }),
        );
        const medians = byStart.map(median);
        const range = [Math.min(...medians), Math.max(...medians)].map(value => value.toFixed(2));
        return `${median(byStart.flat()).toFixed(3)} (${range.join('–')})`;
      };
      const of = (pick: (slice: Slice) => number) => median(own.flat().map(pick));
      return [
        name,
        String(clients),
        `${of(({ p50Ms }) => p50Ms).toFixed(2)} ms`,
        ratiosOf(({ p50Ms }) => p50Ms),
        of(({ requestsPerSecond }) => requestsPerSecond).toFixed(0),
        ratiosOf(({ requestsPerSecond }) => requestsPerSecond),
        `${of(({ processorUs }) => processorUs).toFixed(0)} µs`,
        ratiosOf(({ processorUs }) => processorUs),
      ];
    }),
  );
  const to = `to ${OFF}`;
  const headings = ['Settings', 'Clients', 'p50', to, 'req/s', to, 'processor', to];
  return toTable(headings, rows);
}
