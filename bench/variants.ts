/**
 * What settings cost: `tools/call` of a modern client through Portico with some and without them, in alternating slices of one run.
 *
 * Owns: a host for each, so that nothing but the settings differs. Each idles while another is measured.
 */
import { createCases, measureSlice } from './measure.ts';
import type { Options } from './options.ts';
import { MAX_CONNECTIONS, startBench } from './setup.ts';
import type { Bench } from './setup.ts';
import { toRow, toSummary, toTable } from './table.ts';
import type { Pair, Summary } from './table.ts';

const CLIENTS = [1, MAX_CONNECTIONS] as const;

/** What the table calls the host without them. */
const OFF = 'off';

/** Settings by what the table calls them. */
export type Variants = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Runs all rounds; gives a table for each variant.
 * @param without the settings that they are compared with
 */
export async function measureVariants(
  without: Readonly<Record<string, string>>,
  wanted: Variants,
  options: Options,
  say: (line: string) => void,
): Promise<string> {
  say(`starting Portico ${Object.keys(wanted).length + 1} times`);
  const started: Bench[] = [];
  const start = async (env: Readonly<Record<string, string>>) => {
    const bench = await startBench({ env: { ...env } });
    started.push(bench);
    const cases = (await createCases(bench)).filter(
      ({ upstreamRequests, era }) => upstreamRequests === 1 && era === 'modern',
    );
    return { bench, cases };
  };
  try {
    const off = await start(without);
    const variants = [];
    for (const [name, env] of Object.entries(wanted))
      variants.push({ name, ...(await start(env)) });
    const sides = [{ name: OFF, ...off }, ...variants];
    const measured = new Map<string, Summary[]>();
    for (let round = 0; round <= options.rounds; round += 1) {
      say(round === 0 ? 'warm-up round' : `round ${round} of ${options.rounds}`);
      for (const [index, { request }] of off.cases.entries()) {
        for (const clients of CLIENTS) {
          for (const { name, bench, cases } of round % 2 === 0 ? sides : sides.toReversed()) {
            const one = cases[index];
            if (!one) throw new Error(`no case ${index}`);
            const slice = {
              clients,
              durationMs: options.secondsPerSlice * 1_000,
              exact: round > 0,
            };
            const summary = toSummary(await measureSlice(bench, one, 'portico', slice));
            const key = `${name} ${request} ${clients}`;
            if (round > 0) measured.set(key, [...(measured.get(key) ?? []), summary]);
          }
        }
      }
    }
    const of = (name: string, request: string, clients: number) =>
      measured.get(`${name} ${request} ${clients}`) ?? [];
    return variants
      .map(({ name }) => {
        const rows = off.cases.flatMap(({ request }) =>
          CLIENTS.map(clients => {
            const others = of(OFF, request, clients);
            const pairs = of(name, request, clients).map((portico, round): Pair => {
              const relay = others[round];
              if (!relay) throw new Error('a round is missing');
              return { relay, portico };
            });
            return toRow(request, clients, pairs);
          }),
        );
        return toTable(rows, ['off', name]);
      })
      .join('\n\n');
  } finally {
    for (const bench of started) await bench.stop();
  }
}
