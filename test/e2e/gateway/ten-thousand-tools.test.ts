/**
 * 25 servers of 400 tools each, as real processes: all are discovered at once. With one killed, one hanging and one flapping, the status of
 * each is right within two health intervals (of 30 seconds, the default), and the others are not affected.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway, type ServerRecord } from '../support/gateway.ts';
import { listAllTools, open, textOf } from '../support/raw-client.ts';

const SERVERS = 25;
const TOOLS = 400;
const DISCOVERY_MS = 5_000;
const INTERVAL_MS = 30_000;
const SICK = ['killed', 'hung', 'flapping'] as const;
const well = Array.from({ length: SERVERS - SICK.length }, (_, i) => `well-${i}`);

const running = new Map<string, Upstream>();
const ids = new Map<string, string>();
let gateway: Gateway;

const start = async (name: string, port = 0) =>
  void running.set(name, await startFixture('many-tools', { tools: TOOLS, port }));
const portOf = (name: string) => running.get(name)?.port ?? 0;
const recordOf = async (name: string) => {
  const { json } = await gateway.api('GET', `/api/v1/aggregator/servers/${ids.get(name)}`);
  return json as unknown as ServerRecord;
};
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

beforeAll(async () => {
  await Promise.all([...SICK, 'well'].map(name => start(name)));
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([...running.values()].map(upstream => upstream.stop()));
});

describe('25 servers with 400 tools each', () => {
  it('[UP-5] [REG-5] are each discovered within five seconds', async () => {
    for (const name of [...well, ...SICK]) {
      const origin = running.get(name)?.origin ?? running.get('well')?.origin;
      const body = {
        name,
        transport_type: 'HTTP',
        connection_config: { url: `${origin}/${name}/mcp` },
      };
      const { status, json } = await gateway.api('POST', '/api/v1/aggregator/servers', body);
      expect([name, status]).toEqual([name, 201]);
      ids.set(name, String(json['id']));
      const record = await until(`${name} is discovered`, DISCOVERY_MS, async () => {
        const found = await recordOf(name);
        return found.status === 'CONNECTED' ? found : undefined;
      });
      expect(record.tool_count).toBe(TOOLS);
    }
    const client = await open('modern', {
      url: `${gateway.origin}/mcp`,
      token: gateway.adminToken,
    });
    expect(new Set((await listAllTools(client)).map(({ name }) => name)).size).toBe(10_000);
  }, 300_000);

  it('[MCP-12] [REG-4] [UP-5] [AG-US5-AC4] show which of them is killed, hangs or flaps, and the others keep working', async () => {
    const client = await open('modern', {
      url: `${gateway.origin}/mcp`,
      token: gateway.adminToken,
    });
    const begin = Date.now();
    const over = new AbortController();
    const calls = (async () => {
      const wrong: string[] = [];
      for (let i = 0; !over.signal.aborted; i += 1) {
        const tool = `tool-${String(i % TOOLS).padStart(4, '0')}`;
        const name = [well[i % well.length], tool].join('.');
        const text = textOf(await client.call(name));
        if (text !== tool) wrong.push(`${name}: ${text}`);
        await pause(50);
      }
      return wrong;
    })();
    await running.get('killed')?.stop();
    running.get('hung')?.hang();
    for (let round = 0; round < 3; round += 1) {
      const port = portOf('flapping');
      await running.get('flapping')?.stop();
      await pause(1_500);
      await start('flapping', port);
      await pause(1_500);
    }
    const left = () => Math.max(1_000, begin + 2 * INTERVAL_MS - Date.now());
    for (const name of ['killed', 'hung']) {
      await until(`${name} is ERROR`, left(), async () => {
        return (await recordOf(name)).status === 'ERROR' ? true : undefined;
      });
    }
    // Calls that failed while it flapped may leave it DEGRADED for a while, but not down.
    await until('flapping is back', left() + 10_000, async () => {
      const { status } = await recordOf('flapping');
      return status === 'CONNECTED' || status === 'DEGRADED' ? true : undefined;
    });
    over.abort();
    expect(await calls).toEqual([]);
    const statuses = await Promise.all(well.map(async name => (await recordOf(name)).status));
    expect(new Set(statuses)).toEqual(new Set(['CONNECTED']));
    expect(textOf(await client.call('flapping.tool-0007'))).toBe('tool-0007');
  }, 300_000);
});
