/**
 * The monthly cost of an idle server. Check cycles of its monitor are counted at a faster pace, once nothing changes any more, and
 * multiplied by the cycles of a month at the default pace. Two things are added by calculation: the time of requests to a distant server,
 * and the repeated writes of unchanged data.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Era } from '../exchanges.ts';
import { startBench, type Bench } from '../setup.ts';
import { bundleMetered } from './bundle.ts';
import { dollarsPerMillion, perRequest, PRICES, toOperations, type Operations } from './prices.ts';

/** Milliseconds between check cycles: here, and at a server without changes with default settings. */
const SPED_UP_MS = 20_000;
const QUIET_MS = 300_000;
const MONTH_MS = 30 * 86_400_000;
/** Round-trip time to a server on the internet and to the database, in milliseconds. */
const UPSTREAM_MS = 100;
const D1_MS = 30;
const SERVERS = 5;
const ROUNDS = 4;
const TOOLS = 100;
/**
 * Dollars a month for repeated writes: the monitor's state, a history row and the database row every quarter of an hour; the results of the
 * health address every ten minutes.
 */
const REPEATED =
  ((MONTH_MS / 900_000) * (2 * PRICES.objectRowWritten + PRICES.d1RowWritten) +
    (MONTH_MS / 600_000) * PRICES.objectRowWritten) /
  1e6;

interface Kind {
  name: string;
  era: Era;
  path: string;
  hasHealthUrl: boolean;
}

const kindsOf = (era: Era): Kind[] => [
  { name: `${era}, no change stream`, era, path: 'still', hasHealthUrl: false },
  { name: `${era}, with a change stream`, era, path: 'telling', hasHealthUrl: false },
  { name: `${era}, with a health address`, era, path: 'still', hasHealthUrl: true },
];
const KINDS: readonly Kind[] = [...kindsOf('modern'), ...kindsOf('legacy')];

/** One line of the table. */
export interface Standing {
  name: string;
  /** Per check cycle. */
  operations: Operations;
  exchanges: number;
  rounds: number;
  dollarsAMonth: number;
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, n) => sum + n, 0);

async function disconnectAll(bench: Bench): Promise<void> {
  const { servers } = await bench.request<{ servers: { id: string; status: string }[] }>(
    '/aggregator/servers',
  );
  for (const { id, status } of servers) {
    if (status !== 'DISCONNECTED') await bench.request(`/aggregator/servers/${id}/disconnect`, {});
  }
}

async function measureKind(bench: Bench, kind: Kind): Promise<Standing> {
  const { name, era, path, hasHealthUrl } = kind;
  await disconnectAll(bench);
  const origin = `http://127.0.0.1:${bench.ports.upstream}`;
  for (let index = 0; index < SERVERS; index += 1) {
    const server = `idle-${KINDS.indexOf(kind)}-${index}`;
    await bench.request('/aggregator/servers', {
      name: server,
      transport_type: 'HTTP',
      connection_config: { url: `${origin}/${era}/${path}-${server}` },
      ...(hasHealthUrl ? { health_check_url: `${origin}/counts` } : {}),
    });
    await bench.waitFor(server, TOOLS);
  }
  const take = async () => {
    const ledger = `http://127.0.0.1:${bench.ports.portico}/ledger?reset`;
    return (await (await fetch(ledger)).json()) as Record<string, number>;
  };
  // The first cycles discover and write things.
  await sleep(2 * SPED_UP_MS);
  await take();
  const exchangesBefore = total(await bench.counts());
  await sleep(ROUNDS * SPED_UP_MS);
  const counts = await take();
  const exchanged = total(await bench.counts()) - exchangesBefore;
  const rounds = counts['ServerMonitor.requests'] ?? 0;
  const measured = perRequest(toOperations(counts), rounds);
  // A request to a health address is additional, and the server does not count it.
  const exchanges = exchanged / rounds + (hasHealthUrl ? 1 : 0);
  const objectAwakeMs = measured.objectAwakeMs + exchanges * UPSTREAM_MS + measured.d1Trips * D1_MS;
  const operations = { ...measured, objectAwakeMs };
  const dollarsAMonth = ((MONTH_MS / QUIET_MS) * dollarsPerMillion(operations)) / 1e6 + REPEATED;
  return { name, operations, exchanges, rounds, dollarsAMonth };
}

/** Measures idle servers of each kind, one kind after the other: about twelve minutes. */
export async function measureStanding(say: (line: string) => void): Promise<Standing[]> {
  const bench = await startBench({
    script: await bundleMetered(),
    env: {
      PORTICO_CHANGE_STREAMS: 'polled',
      PORTICO_HEALTH_INTERVAL_MS: String(SPED_UP_MS),
      PORTICO_DISCOVERY_INTERVAL_MS: String(SPED_UP_MS),
    },
  });
  try {
    const standing: Standing[] = [];
    for (const kind of KINDS) {
      say(`idle server: ${kind.name}`);
      standing.push(await measureKind(bench, kind));
    }
    return standing;
  } finally {
    await bench.stop();
  }
}

export function toStandingTable(standing: readonly Standing[]): string {
  const rows = standing.map(({ name, operations, exchanges, dollarsAMonth }) => {
    const { objectRequests, objectRowsWritten, objectAwakeMs, kvReads, kvWrites } = operations;
    const cells = [
      objectRequests.toFixed(2),
      objectRowsWritten.toFixed(2),
      objectAwakeMs.toFixed(0),
      exchanges.toFixed(1),
      operations.d1RowsRead.toFixed(1),
      operations.d1RowsWritten.toFixed(2),
      (kvReads + kvWrites).toFixed(2),
      `$${dollarsAMonth.toFixed(3)}`,
    ];
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  const heldDollars = (MONTH_MS / 1e9) * 0.128 * PRICES.objectDuration;
  return [
    '| idle server, of one round | object requests | rows written there | ms awake | requests to the server | D1 rows read | written | KV | a month |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    `A stream that is held all the time (\`PORTICO_CHANGE_STREAMS=held\`, or a resource somebody is subscribed to): $${heldDollars.toFixed(2)} a month.`,
  ].join('\n');
}
