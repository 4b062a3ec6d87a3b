/**
 * Processor time of workerd per request, for Portico and the relay in turn. Where other programs share the machine, this is steadier than
 * clock time. Read from Linux's process table, which counts in steps of 10 ms; it is divided over a whole slice.
 */
import { readFileSync } from 'node:fs';

import { createCases, measureSlice } from './measure.ts';
import type { Options } from './options.ts';
import { MAX_CONNECTIONS } from './setup.ts';
import type { Bench } from './setup.ts';
import { median } from './statistics.ts';
import { findChildren } from '../local/watchdog.ts';

const TICK_US = 10_000;
const CLIENTS = [1, MAX_CONNECTIONS] as const;
const SIDES = ['relay', 'portico'] as const;

/** Processor time of a process so far, in microseconds: fields 14 and 15 of its `stat`. */
export function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** Runs all rounds; returns a table of microseconds per request. @throws Error where the system has no process table */
export async function measureCpu(
  bench: Bench,
  options: Options,
  say: (line: string) => void,
): Promise<string> {
  const [pid] = findChildren('workerd');
  if (pid === undefined) throw new Error('workerd was not found in the process table');
  const costs = new Map<string, number[]>();
  const cases = await createCases(bench);
  for (let round = 0; round <= options.rounds; round += 1) {
    say(round === 0 ? 'warm-up round' : `round ${round} of ${options.rounds}`);
    for (const one of cases) {
      for (const clients of CLIENTS) {
        for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
          const slice = { clients, durationMs: options.secondsPerSlice * 1_000, exact: round > 0 };
          const before = cpuUs(pid);
          const { latenciesMs } = await measureSlice(bench, one, side, slice);
          const cost = (cpuUs(pid) - before) / latenciesMs.length;
          const key = `${one.request} ${clients} ${side}`;
          if (round > 0) costs.set(key, [...(costs.get(key) ?? []), cost]);
        }
      }
    }
  }
  const rows = cases.flatMap(({ request }) =>
    CLIENTS.map(clients => {
      const of = (side: string) => median(costs.get(`${request} ${clients} ${side}`) ?? []);
      const [relay, portico] = [of('relay'), of('portico')];
      const times = (portico / relay).toFixed(2);
      return `| ${request} | ${clients} | ${relay.toFixed(0)} µs | ${portico.toFixed(0)} µs | ${times} |`;
    }),
  );
  return [
    '| Request | Clients | Relay | Portico | Ratio |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}
