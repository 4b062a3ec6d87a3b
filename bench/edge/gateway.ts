/** A metered gateway with one modern and one legacy server, and clients of both eras. */
import { setTimeout as sleep } from 'node:timers/promises';
import { callBody, mcpHeaders, rpcBody, type Era } from '../exchanges.ts';
import { requestJson, serverName, startBench, type Bench } from '../setup.ts';
import { nextNumber } from '../load.ts';
import { bundleMetered } from './bundle.ts';

/** Distances of the stores and objects, in milliseconds, as measured at real deployments. */
export const DISTANCES = { d1: 30, object: 25, kv: 10 };
export type Distances = typeof DISTANCES;
export const NEAR: Distances = { d1: 0, object: 0, kv: 0 };

const HOUR_MS = 3_600_000;

export interface MeteredGateway {
  /** Calls a tool; returns the time in milliseconds. @throws Error where the answer is wrong */
  call(client: Era, server: Era, connection?: number, tool?: 'echo' | 'slow'): Promise<number>;
  /** `tools/list` of a modern client. */
  list(): Promise<void>;
  search(): Promise<void>;
  /** A search with three words not used before, then a call of the tool found. @throws Error where another tool is found */
  searchAndCall(): Promise<void>;
  /** Operations on stores and objects since the last call of this; `hops` counts those one after the other. */
  takeCounts(): Promise<Record<string, number>>;
  setDistances(distances: Distances): Promise<void>;
  /** Makes the next request start on an isolate without any memory. */
  forget(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param env settings in addition to Cloudflare's defaults
 * @param canAsk legacy servers offer a notification stream, and legacy clients declare capabilities for server requests
 */
export async function startMetered(
  env: Record<string, string> = {},
  canAsk = false,
): Promise<MeteredGateway> {
  const bench: Bench = await startBench({
    env: {
      // On one machine, the defaults gather calls for only a second and report good calls to monitors every two seconds.
      PORTICO_AUDIT_GATHER_MS: '25000',
      PORTICO_REPORT_INTERVAL_MS: '300000',
      // The cost of a monitor itself must not count for calls.
      PORTICO_DISCOVERY_INTERVAL_MS: String(HOUR_MS),
      PORTICO_HEALTH_INTERVAL_MS: String(HOUR_MS),
      ...env,
    },
    script: await bundleMetered(),
    canAsk,
  });
  const origin = `http://127.0.0.1:${bench.ports.portico}`;
  const ask = async (path: string): Promise<Response> => {
    const response = await fetch(origin + path);
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return response;
  };
  const call: MeteredGateway['call'] = async (client, server, connection = 0, tool = 'echo') => {
    const name = `${serverName(server)}.${tool}`;
    const n = nextNumber();
    const era =
      client === 'modern'
        ? { 'Mcp-Method': 'tools/call', 'Mcp-Name': name }
        : { 'Mcp-Session-Id': bench.sessions.portico[connection] ?? '' };
    const startedAt = performance.now();
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: { ...mcpHeaders(client, bench.token), ...era },
      body: callBody(client, name, n),
    });
    const text = await response.text();
    const ms = performance.now() - startedAt;
    if (!response.ok || !text.includes(`"text":"${n}"`)) throw new Error(`wrong answer: ${text}`);
    return ms;
  };
  return {
    call,
    async list() {
      const response = await fetch(`${origin}/mcp`, {
        method: 'POST',
        headers: { ...mcpHeaders('modern', bench.token), 'Mcp-Method': 'tools/list' },
        body: rpcBody('modern', 1, 'tools/list', {}),
      });
      const text = await response.text();
      if (!response.ok || !text.includes('.echo"')) throw new Error(`wrong answer: ${text}`);
    },
    search: async () => void (await bench.request('/search', { query: 'say something back' })),
    async searchAndCall() {
      const n = nextNumber();
      const query = `echo ${['one', 'two', 'three'].map(word => `${word}${n}`).join(' ')}`;
      const { tools } = await requestJson<{ tools: { name: string }[] }>(
        `${origin}/api/v1/search`,
        bench.token,
        { query },
      );
      const name = `${serverName('modern')}.echo`;
      if (!tools.some(tool => tool.name === name)) throw new Error(`${name} was not found`);
      await call('modern', 'modern');
    },
    takeCounts: async () => (await ask('/ledger?reset')).json() as Promise<Record<string, number>>,
    async setDistances({ d1, object, kv }) {
      await ask(`/ledger?d1=${d1}&object=${object}&kv=${kv}`);
    },
    forget: async () => void (await ask('/forget')),
    stop: () => bench.stop(),
  };
}

/** Waits until everything about the last call was handed over. */
export const settled = (): Promise<void> => sleep(29_000);
