/**
 * Latency and throughput of `tools/call` with SDK 1.x clients: every gateway and the upstream itself in turn, in each round. A gateway that
 * its clients start has one client.
 */
import { performance } from 'node:perf_hooks';
import type { Era } from '../exchanges.ts';
import { connectClient, type BenchClient } from './client.ts';
import type { Endpoint } from './gateway.ts';
import { median } from '../statistics.ts';

/** The measured numbers of clients. */
export const CLIENTS = [1, 32] as const;

/** One side of the comparison: a gateway in front of the upstream, or the upstream itself. */
export interface Side {
  name: string;
  endpoint: Endpoint;
  /** Era of its clients: SDK 2.x in the modern one. */
  era?: Era;
}

/** Result of a slice. */
export interface Slice {
  p50Ms: number;
  p95Ms: number;
  perSecond: number;
}

/** Medians of a side's slices, and of their ratios to the upstream in the same round. */
export interface Speed extends Slice {
  name: string;
  clients: number;
  /** Ratio to the upstream's p50. */
  times: number;
  /** Ratio to the upstream's calls per second. */
  share: number;
}

/** A side's connected clients. */
interface Connected {
  name: string;
  tool: string;
  clients: BenchClient[];
}

async function connectAll({ name, endpoint, era = 'legacy' }: Side): Promise<Connected> {
  const most = endpoint.transport === 'stdio' ? 1 : Math.max(...CLIENTS);
  const clients: BenchClient[] = [];
  while (clients.length < most) clients.push(await connectClient(endpoint, era));
  const listed = (await clients[0]?.list('tools')) ?? [];
  const tool = listed.find(one => one.name.endsWith('echo'))?.name;
  if (tool === undefined) throw new Error(`${name} does not list the tool that is called`);
  return { name, tool, clients };
}

async function callUntil(client: BenchClient, tool: string, end: number, took: number[]) {
  for (let now = performance.now(); now < end;) {
    const message = `message ${now}`;
    const { content } = await client.call(tool, { message });
    const later = performance.now();
    took.push(later - now);
    if ((content as { text?: string }[])[0]?.text !== message) throw new Error('a wrong answer');
    now = later;
  }
}

/** Runs some clients, each calling as fast as it gets answers. */
async function runSlice({ tool, clients }: Connected, count: number, ms: number): Promise<Slice> {
  const took: number[] = [];
  const start = performance.now();
  const calling = clients.slice(0, count);
  await Promise.all(calling.map(client => callUntil(client, tool, start + ms, took)));
  const elapsedMs = performance.now() - start;
  const ascending = took.toSorted((a, b) => a - b);
  const at = (share: number) => ascending[Math.floor(ascending.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p95Ms: at(0.95), perSecond: (took.length / elapsedMs) * 1_000 };
}

/** Medians over the rounds of one side, with the ratios of each round. */
export function toSpeed(
  name: string,
  clients: number,
  own: readonly Slice[],
  direct: readonly Slice[],
): Speed {
  const of = (pick: (slice: Slice) => number) => median(own.map(pick));
  const quotient = (pick: (slice: Slice) => number) =>
    median(own.map((slice, round) => pick(slice) / pick(direct[round] ?? slice)));
  return {
    name,
    clients,
    p50Ms: of(({ p50Ms }) => p50Ms),
    p95Ms: of(({ p95Ms }) => p95Ms),
    perSecond: of(({ perSecond }) => perSecond),
    times: quotient(({ p50Ms }) => p50Ms),
    share: quotient(({ perSecond }) => perSecond),
  };
}

/** Measurements, and failures instead of them. */
export interface Speeds {
  speeds: Speed[];
  failures: string[];
}

/** @param sides the first is the upstream itself @param whenLoaded called after the last call, while every client is still connected */
export async function measureSpeed(
  sides: readonly Side[],
  { rounds, sliceMs }: { rounds: number; sliceMs: number },
  say: (line: string) => void,
  whenLoaded: () => void,
): Promise<Speeds> {
  const connected: Connected[] = [];
  const failures: string[] = [];
  const failed = new Set<string>();
  const fail = (name: string, error: unknown) => {
    failed.add(name);
    failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  };
  const measured = new Map<string, Slice[]>();
  const slicesOf = (name: string, count: number) => measured.get(`${name} ${count}`) ?? [];
  try {
    for (const side of sides) {
      say(`connecting clients to ${side.name}`);
      await connectAll(side).then(
        one => connected.push(one),
        (error: unknown) => fail(side.name, error),
      );
    }
    for (let round = 0; round <= rounds; round += 1) {
      say(round === 0 ? 'warm-up round' : `round ${round} of ${rounds}`);
      for (const count of CLIENTS) {
        for (const one of round % 2 === 0 ? connected : connected.toReversed()) {
          if (one.clients.length < count || failed.has(one.name)) continue;
          const slice = await runSlice(one, count, sliceMs).catch((error: unknown) =>
            fail(one.name, error),
          );
          if (slice && round > 0) {
            measured.set(`${one.name} ${count}`, [...slicesOf(one.name, count), slice]);
          }
        }
      }
    }
    whenLoaded();
  } finally {
    for (const { clients } of connected) {
      await Promise.all(clients.map(client => client.close().catch(() => undefined)));
    }
  }
  const direct = sides[0]?.name ?? '';
  const speeds = CLIENTS.flatMap(count =>
    sides
      .filter(({ name }) => slicesOf(name, count).length > 0)
      .map(({ name }) => toSpeed(name, count, slicesOf(name, count), slicesOf(direct, count))),
  );
  return { speeds, failures };
}
