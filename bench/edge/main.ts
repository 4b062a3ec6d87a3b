/**
 * `npm run bench:edge`: the cost and the waiting time of calls on Cloudflare, measured with a copy of the Worker that counts its operations
 * on stores and objects, at their real distances. Loopback only; ends by itself.
 */
import { parseArgs } from 'node:util';
import { KINDS, measureCosts, type Cost, type Kind } from './costs.ts';
import { DISTANCES, type Distances } from './gateway.ts';
import { PRICES } from './prices.ts';
import { measureStanding, toStandingTable } from './standing.ts';
import { measureWaits, type Wait } from './waits.ts';

const HELP = `npm run bench:edge [-- options]

What a call costs on Cloudflare, and how much longer it takes where D1 is ${DISTANCES.d1} ms away, an object ${DISTANCES.object} ms and KV ${DISTANCES.kv} ms.

  --quick   without sparse traffic and the other ways to record: some four minutes in place of half an hour
  --costs   the costs only
  --waits   the waits only
  --standing  what stands and costs by the month only
  --d1 MS, --object MS, --kv MS  how far away they are
  --help    this text
`;

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const toFixed = (value: number, digits: number): string => value.toFixed(digits);

function toCostTable(costs: readonly Cost[]): string {
  const rows = costs.map(({ kind, rate, operations, dollars }) => {
    const { objectRequests, objectRowsWritten, objectAwakeMs, d1Trips, d1RowsWritten } = operations;
    const cells = [
      toFixed(objectRequests, 3),
      toFixed(objectRowsWritten, 3),
      toFixed(objectAwakeMs, 2),
      toFixed(d1Trips, 3),
      toFixed(d1RowsWritten, 3),
      toFixed(operations.d1RowsRead, 1),
      `$${toFixed(dollars, 2)}`,
    ];
    return `| ${kind} | ${rate} | ${cells.join(' | ')} |`;
  });
  return [
    '| call | rate | object requests | rows written there | ms awake | D1 trips | rows written | rows read | a million |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}

const toWaitTable = (waits: readonly Wait[]): string =>
  [
    '| call | client and server | near | far | gains | hops |',
    '| --- | --- | ---: | ---: | ---: | ---: |',
    ...waits.map(
      ({ call, client, nearMs, farMs, hops }) =>
        `| ${call} | ${client} | ${toFixed(nearMs, 1)} ms | ${toFixed(farMs, 1)} ms | ${toFixed(farMs - nearMs, 1)} ms | ${hops} |`,
    ),
  ].join('\n');

/** The rates of a quick run: without those that take minutes. */
const toQuick = ({ rates, ...kind }: Kind): Kind => ({
  ...kind,
  rates: rates.filter(({ everyMs }) => everyMs < 1_000),
});

interface Options {
  quick: boolean;
  costs: boolean;
  waits: boolean;
  standing: boolean;
}

async function run(
  { quick, costs, waits, standing }: Options,
  distances: Distances,
): Promise<void> {
  const isWhole = !costs && !waits && !standing;
  if (isWhole || costs) {
    const measured: Cost[] = [];
    for (const kind of quick ? KINDS.slice(0, 1).map(toQuick) : KINDS) {
      measured.push(...(await measureCosts(kind, distances, say)));
    }
    process.stdout.write(
      `${toCostTable(measured)}\n\nDollars for a million: ${JSON.stringify(PRICES)}\n\n`,
    );
  }
  if (isWhole || standing) {
    process.stdout.write(`${toStandingTable(await measureStanding(say))}\n\n`);
  }
  if (isWhole || waits)
    process.stdout.write(`${toWaitTable(await measureWaits(quick ? 9 : 25, distances, say))}\n`);
}

/** @throws Error where a value is not a time */
function readDistances(given: Record<keyof Distances, string>): Distances {
  const read = (name: keyof Distances): number => {
    const ms = Number(given[name]);
    if (!(ms >= 0 && ms <= 1_000)) throw new Error(`--${name} must be 0 to 1000 milliseconds`);
    return ms;
  };
  return { d1: read('d1'), object: read('object'), kv: read('kv') };
}

try {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      costs: { type: 'boolean', default: false },
      waits: { type: 'boolean', default: false },
      standing: { type: 'boolean', default: false },
      d1: { type: 'string', default: String(DISTANCES.d1) },
      object: { type: 'string', default: String(DISTANCES.object) },
      kv: { type: 'string', default: String(DISTANCES.kv) },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) process.stdout.write(HELP);
  else await run(values, readDistances(values));
} catch (error) {
  process.stderr.write(`bench:edge failed: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
