/**
 * What the result cache costs and saves: `tools/call` of a modern client to a tool without a cache rule (off), and to a cached tool with
 * new arguments each time (miss) or always the same (hit), in alternating slices of one run.
 *
 * Refuses: a slice in which the upstream received a wrong number of calls: it must get every call for off and miss, and at most one in
 * total for hit.
 */
import { createCallExchange } from './exchanges.ts';
import { runLoad } from './load.ts';
import type { Exchange } from './load.ts';
import type { Options } from './options.ts';
import { MAX_CONNECTIONS, serverName, startBench } from './setup.ts';
import type { Bench } from './setup.ts';
import { toRow, toSummary, toTable } from './table.ts';
import type { Pair, Summary } from './table.ts';

const CLIENTS = [1, MAX_CONNECTIONS] as const;
/** A tool of the upstream that is annotated read-only, and answers like `echo`. */
const KEPT = 'read';
const SIDES = ['off', 'miss', 'hit'] as const;
type Side = (typeof SIDES)[number];

/** Runs all rounds; returns a table each for misses and hits. */
export async function measureCache(options: Options, say: (line: string) => void): Promise<string> {
  say('starting the upstream and Portico');
  const bench = await startBench({});
  try {
    const server = serverName('modern');
    await bench.request('/cache/rules', { server, tool: KEPT, ttl_seconds: 3_600 });
    const exchanges = createExchanges(bench, server);
    const measured = new Map<string, Summary[]>();
    for (let round = 0; round <= options.rounds; round += 1) {
      say(round === 0 ? 'warm-up round' : `round ${round} of ${options.rounds}`);
      for (const clients of CLIENTS) {
        for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
          const summary = await measureSide(bench, exchanges[side], side, clients, options);
          const key = `${side} ${clients}`;
          if (round > 0) measured.set(key, [...(measured.get(key) ?? []), summary]);
        }
      }
    }
    return (['miss', 'hit'] as const)
      .map(side => {
        const rows = CLIENTS.map(clients => {
          const off = measured.get(`off ${clients}`) ?? [];
          const pairs = (measured.get(`${side} ${clients}`) ?? []).map((portico, round): Pair => {
            const relay = off[round];
            if (!relay) throw new Error('a round is missing');
            return { relay, portico };
          });
          return toRow('tools/call, modern', clients, pairs);
        });
        return toTable(rows, ['off', side]);
      })
      .join('\n\n');
  } finally {
    await bench.stop();
  }
}

function createExchanges({ token }: Bench, server: string): Record<Side, Exchange> {
  const route = { path: '/mcp', era: 'modern', token, sessions: [] } as const;
  return {
    off: createCallExchange(route, `${server}.echo`),
    miss: createCallExchange(route, `${server}.${KEPT}`),
    hit: createCallExchange(route, `${server}.${KEPT}`, 'the same'),
  };
}

async function measureSide(
  bench: Bench,
  exchange: Exchange,
  side: Side,
  clients: number,
  options: Options,
): Promise<Summary> {
  const count = async () => (await bench.counts())['modern tools/call'] ?? 0;
  const before = await count();
  const durationMs = options.secondsPerSlice * 1_000;
  const port = bench.ports.portico;
  const sample = await runLoad({ port, connections: clients, durationMs, exchange });
  const received = (await count()) - before;
  const sent = sample.latenciesMs.length;
  if (side === 'hit' ? received > 1 : received !== sent) {
    throw new Error(`${side}: ${received} calls upstream of ${sent}`);
  }
  return toSummary(sample);
}
