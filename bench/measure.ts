/**
 * The measurement: rounds of slices, relay and Portico in turn, and proof of what reached the upstream.
 *
 * Owns: the cases (`tools/call` and `tools/list` in both eras), the order (alternating from round to round, so that neither side always
 * comes first), one discarded round. Each legacy connection has its own session. Refuses: a `tools/call` slice whose calls did not reach
 * the upstream exactly once each, and a `tools/list` slice in which the upstream got more list requests than the monitors of its
 * registrations make.
 */
import { createCallExchange, createListExchange, createOkExchange } from './exchanges.ts';
import type { Era, Route } from './exchanges.ts';
import { runLoad } from './load.ts';
import type { Exchange, Sample } from './load.ts';
import { MAX_CONNECTIONS, TOOL_COUNT, relayPath, serverName } from './setup.ts';
import type { Bench } from './setup.ts';
import { toRow, toSummary } from './table.ts';
import type { Pair, Row } from './table.ts';

const ERAS = ['modern', 'legacy'] as const;
const CLIENTS = [1, MAX_CONNECTIONS] as const;
const CEILING_MS = 400;
/** List requests that the monitors of an era's five registrations may make during a slice: one each, and at its border two. */
const OWN_LISTS = 10;

export interface Case {
  request: string;
  era: Era;
  /** How many requests the upstream must receive for each measured one. */
  upstreamRequests: 0 | 1;
  portico: Exchange;
  relay: Exchange;
  /** The response that the relay must give to requests it cannot relay. */
  relayBody: Uint8Array<ArrayBuffer> | undefined;
}

/** Requests per second at 1 and 64 clients, for paths that can only be faster than either side. */
export interface Ceilings {
  bareWorker: number[];
  upstreamAlone: number[];
}

async function fetchList(bench: Bench, exchange: Exchange): Promise<Uint8Array<ArrayBuffer>> {
  let body = new Uint8Array();
  await runLoad({
    port: bench.ports.portico,
    connections: 1,
    durationMs: 0,
    exchange: {
      write: exchange.write,
      check(answer, n) {
        exchange.check(answer, n);
        body = new Uint8Array(answer.body);
      },
    },
  });
  return body;
}

/** The four cases, in the order of the table. */
export async function createCases(bench: Bench): Promise<Case[]> {
  const cases: Case[] = [];
  const route = (era: Era, side: 'portico' | 'relay', path: string): Route => ({
    path,
    era,
    token: bench.token,
    sessions: bench.sessions[side],
  });
  for (const era of ERAS) {
    const qualifiedName = `${serverName(era)}.echo`;
    const toUpstream = relayPath(bench.ports.upstream, era);
    cases.push({
      request: `tools/call, ${era}`,
      era,
      upstreamRequests: 1,
      portico: createCallExchange(route(era, 'portico', '/mcp'), qualifiedName),
      relay: createCallExchange(route(era, 'relay', toUpstream), qualifiedName),
      relayBody: undefined,
    });
  }
  for (const era of ERAS) {
    const portico = createListExchange(route(era, 'portico', '/mcp'), TOOL_COUNT);
    cases.push({
      request: `tools/list, ${era}`,
      era,
      upstreamRequests: 0,
      portico,
      relay: createListExchange(route(era, 'relay', '/list'), TOOL_COUNT),
      relayBody: await fetchList(bench, portico),
    });
  }
  return cases;
}

/** How many requests of the case's method the upstream has received so far. */
async function countUpstream(bench: Bench, { request, era }: Case): Promise<number> {
  const [method] = request.split(',');
  return (await bench.counts())[`${era} ${method}`] ?? 0;
}

/** One slice of load on one side of a case. */
export async function measureSlice(
  bench: Bench,
  measured: Case,
  side: 'portico' | 'relay',
  slice: { clients: number; durationMs: number; exact: boolean },
): Promise<Sample> {
  const port = bench.ports[side];
  if (side === 'relay' && measured.relayBody) {
    await fetch(`http://127.0.0.1:${port}/list`, { method: 'PUT', body: measured.relayBody });
  }
  const before = await countUpstream(bench, measured);
  const sample = await runLoad({
    port,
    connections: slice.clients,
    durationMs: slice.durationMs,
    exchange: measured[side],
  });
  const received = (await countUpstream(bench, measured)) - before;
  const expected = measured.upstreamRequests * sample.latenciesMs.length;
  const isRight = measured.upstreamRequests === 0 ? received <= OWN_LISTS : received === expected;
  if (slice.exact && !isRight) {
    throw new Error(`${measured.request}: ${received} requests upstream instead of ${expected}`);
  }
  return sample;
}

/** Runs all rounds; calls `report` before each one. */
export async function measureRows(
  bench: Bench,
  options: { rounds: number; secondsPerSlice: number },
  report: (round: number) => void,
): Promise<Row[]> {
  const cases = await createCases(bench);
  const pairs = new Map<string, Pair[]>();
  for (let round = 0; round <= options.rounds; round += 1) {
    report(round);
    for (const measured of cases) {
      for (const clients of CLIENTS) {
        const slice = { clients, durationMs: options.secondsPerSlice * 1_000, exact: round > 0 };
        const order =
          round % 2 === 0 ? (['relay', 'portico'] as const) : (['portico', 'relay'] as const);
        const samples: Partial<Record<'relay' | 'portico', Sample>> = {};
        for (const side of order) samples[side] = await measureSlice(bench, measured, side, slice);
        if (round === 0 || !samples.relay || !samples.portico) continue;
        const key = `${measured.request} ${clients}`;
        const known = pairs.get(key) ?? [];
        known.push({ relay: toSummary(samples.relay), portico: toSummary(samples.portico) });
        pairs.set(key, known);
      }
    }
  }
  return cases.flatMap(({ request }) =>
    CLIENTS.map(clients => toRow(request, clients, pairs.get(`${request} ${clients}`) ?? [])),
  );
}

/** Throughput of host, load generator and upstream without a gateway, which shows that they are not the limit. */
export async function measureCeilings(bench: Bench): Promise<Ceilings> {
  const throughput = async (port: number, exchange: Exchange): Promise<number[]> => {
    const results: number[] = [];
    for (const connections of CLIENTS) {
      const load = { port, connections, exchange, durationMs: CEILING_MS };
      await runLoad(load);
      results.push(toSummary(await runLoad(load)).requestsPerSecond);
    }
    return results;
  };
  const { token, ports } = bench;
  const route: Route = { path: '/modern/1', era: 'modern', token, sessions: [] };
  return {
    bareWorker: await throughput(ports.relay, createOkExchange('/ok', token)),
    upstreamAlone: await throughput(ports.upstream, createCallExchange(route, 'echo')),
  };
}
