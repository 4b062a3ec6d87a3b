/** The cost of calls: operations and dollars per call, at several rates. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Era } from '../exchanges.ts';
import { settled, startMetered, type Distances, type MeteredGateway } from './gateway.ts';
import { dollarsPerMillion, perRequest, toOperations, type Operations } from './prices.ts';

/** How calls arrive: their number, the number of clients, and the interval. */
export interface Rate {
  name: string;
  calls: number;
  clients: number;
  /** Milliseconds between two calls of a client; 0: no pause. */
  everyMs: number;
}

export const RATES: readonly Rate[] = [
  { name: 'one in 10 s', calls: 30, clients: 1, everyMs: 10_000 },
  { name: '4 a second', calls: 160, clients: 1, everyMs: 250 },
  { name: '1,000, 1 client', calls: 1_000, clients: 1, everyMs: 0 },
  { name: '1,000, 64 clients', calls: 1_000, clients: 64, everyMs: 0 },
];

/** One line of the table. */
export interface Cost {
  kind: string;
  rate: string;
  calls: number;
  /** Per call. */
  operations: Operations;
  /** Per million calls, without the Worker's own requests and processor time. */
  dollars: number;
}

async function makeCalls(gateway: MeteredGateway, { make }: Kind, rate: Rate) {
  let left = rate.calls;
  const drive = async (connection: number) => {
    while (left > 0) {
      left -= 1;
      await make(gateway, connection);
      if (rate.everyMs > 0) await sleep(rate.everyMs);
    }
  };
  await Promise.all(Array.from({ length: rate.clients }, (_, connection) => drive(connection)));
}

export interface Kind {
  name: string;
  make(gateway: MeteredGateway, connection: number): Promise<unknown>;
  env?: Record<string, string>;
  /** Legacy servers offer a notification stream, and legacy clients declare capabilities for server requests on it. */
  canAsk?: boolean;
  rates: readonly Rate[];
}

const callOf =
  (client: Era, server: Era, tool?: 'slow'): Kind['make'] =>
  (gateway, connection) =>
    gateway.call(client, server, connection, tool);
const MODERN = callOf('modern', 'modern');
const LATER = RATES.slice(1);
/** 64 clients, each waiting for its call. */
const SLOW = RATES.slice(-1);

export const KINDS: readonly Kind[] = [
  { name: 'modern', make: MODERN, rates: RATES },
  { name: 'legacy client, legacy server', make: callOf('legacy', 'legacy'), rates: LATER },
  {
    name: 'legacy client, legacy server with a stream',
    make: callOf('legacy', 'legacy'),
    canAsk: true,
    rates: RATES,
  },
  { name: 'modern client, legacy server', make: callOf('modern', 'legacy'), rates: LATER },
  { name: 'legacy client, modern server', make: callOf('legacy', 'modern'), rates: LATER },
  { name: 'modern, of a second', make: callOf('modern', 'modern', 'slow'), rates: SLOW },
  { name: 'legacy, of a second', make: callOf('legacy', 'legacy', 'slow'), rates: SLOW },
  { name: '`tools/list`', make: gateway => gateway.list(), rates: LATER },
  { name: 'search', make: gateway => gateway.search(), rates: LATER },
  { name: 'search, then a call', make: gateway => gateway.searchAndCall(), rates: LATER },
  {
    name: 'search, then a call, learned',
    make: gateway => gateway.searchAndCall(),
    env: { PORTICO_LEARN_FROM_USE: 'on' },
    rates: LATER,
  },
  {
    name: 'modern, `durable`',
    make: MODERN,
    env: { PORTICO_AUDIT_CALLS: 'durable' },
    rates: RATES,
  },
  {
    name: 'modern, limited',
    make: MODERN,
    env: { PORTICO_RATE_LIMIT: '10000', PORTICO_SERVER_RATE_LIMIT: '10000' },
    rates: RATES,
  },
  { name: 'modern, `before`', make: MODERN, env: { PORTICO_AUDIT_CALLS: 'before' }, rates: LATER },
  { name: 'modern, `off`', make: MODERN, env: { PORTICO_AUDIT_CALLS: 'off' }, rates: LATER },
];

/** Measures one kind of call at its rates, each until everything was handed over. */
export async function measureCosts(
  kind: Kind,
  distances: Distances,
  say: (line: string) => void,
): Promise<Cost[]> {
  const gateway = await startMetered(kind.env, kind.canAsk);
  try {
    await gateway.setDistances(distances);
    const costs: Cost[] = [];
    for (const rate of kind.rates) {
      say(`${kind.name}: ${rate.name}`);
      await kind.make(gateway, 0);
      await settled();
      await gateway.takeCounts();
      await makeCalls(gateway, kind, rate);
      await settled();
      const operations = perRequest(toOperations(await gateway.takeCounts()), rate.calls);
      const dollars = dollarsPerMillion(operations);
      costs.push({ kind: kind.name, rate: rate.name, calls: rate.calls, operations, dollars });
    }
    return costs;
  } finally {
    await gateway.stop();
  }
}
