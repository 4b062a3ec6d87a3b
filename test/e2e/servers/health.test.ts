/**
 * Health with real processes: servers that die, hang, need a credential, fail and come back, checked every second, and one beside them that
 * always works.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';

const ERAS = ['legacy', 'modern'] as const;
const SERVERS = '/api/v1/aggregator/servers';
/** Three checks of five seconds, and the time between them. */
const HUNG_MS = 90_000;

let gateway: Gateway;
let fine: Upstream;
let fineId: string;

beforeAll(async () => {
  gateway = await startGateway({
    env: { PORTICO_HEALTH_INTERVAL_MS: '1000', PORTICO_REPORT_INTERVAL_MS: '100' },
  });
  fine = await startFixture('moody');
  ({ id: fineId } = await gateway.register('fine', `${fine.origin}/mcp`));
}, 300_000);

afterAll(async () => {
  await gateway?.stop();
});

interface Shown {
  status: string;
  last_error: string | null;
  health: { state: string; reason: string | null; circuit: string; response_time_ms: number };
}

const readServer = async (id: string) =>
  (await gateway.api('GET', `${SERVERS}/${id}`)).json as unknown as Shown;

/** Waits until the record is as wanted. */
const whenShown = (id: string, wanted: (shown: Shown) => boolean, timeoutMs = 60_000) =>
  until(`server ${id} is as wanted`, timeoutMs, async () => {
    const shown = await readServer(id);
    return wanted(shown) ? shown : undefined;
  });

const call = (name: string) => gateway.api('POST', '/api/v1/tools/call', { name: `${name}.act` });
const historyOf = async (id: string) =>
  (await gateway.api('GET', `${SERVERS}/${id}/health`)).json as {
    checks: { way: string; finding: string; response_time_ms: number | null }[];
    windows: { '1h': { calls: number } };
  };
/** Counts the checks by a message that an upstream received. */
const askedOf = async (upstream: Upstream) => {
  const { ping = 0, 'server/discover': discover = 0 } = await upstream.counters();
  return ping + discover;
};
const expectFine = async () => {
  expect((await call('fine')).status).toBe(200);
};

// Each test has its own server and mostly waits, so they run concurrently.
describe.concurrent.each(ERAS)('a %s server', era => {
  it('[AG-US5-AC4] [AG-US5-AC5] [REG-4] [UP-5] that dies is ERROR, and CONNECTED when it is back', async () => {
    const name = `dies-${era}`;
    const upstream = await startFixture('moody', { era });
    const { id } = await gateway.register(name, `${upstream.origin}/mcp`);
    await upstream.stop();
    const shown = await whenShown(id, ({ status }) => status === 'ERROR');
    expect(shown.health).toMatchObject({ state: 'down', reason: 'upstream_unreachable' });
    await expectFine();
    const again = await startFixture('moody', { era, port: upstream.port });
    await whenShown(
      id,
      ({ status, health }) => status === 'CONNECTED' && health.circuit === 'closed',
      90_000,
    );
    await until('calls reach it', 60_000, async () =>
      (await call(name)).status === 200 ? true : undefined,
    );
    await again.stop();
  }, 300_000);

  it('[AG-US5-AC3] [AG-US5-AC5] [AG-US5-AC8] that hangs is ERROR after three checks of five seconds', async () => {
    const upstream = await startFixture('moody', { era });
    const { id } = await gateway.register(`hangs-${era}`, `${upstream.origin}/mcp`);
    await upstream.counters('?mood=hang');
    const shown = await whenShown(id, ({ status }) => status === 'ERROR', HUNG_MS);
    expect(shown.health).toMatchObject({ state: 'down', reason: 'upstream_timeout' });
    const { checks } = await historyOf(id);
    const failed = checks.filter(({ finding }) => finding === 'failed');
    expect(failed.length).toBeGreaterThanOrEqual(3);
    for (const { way, response_time_ms: ms } of failed) {
      expect(way).toBe('ping');
      expect(ms).toBeGreaterThanOrEqual(4_900);
    }
    await expectFine();
    await upstream.counters('?mood=fine');
    await whenShown(id, ({ status }) => status === 'CONNECTED', 90_000);
  }, 300_000);

  it('[REG-4] that needs a credential is only DEGRADED, and CONNECTED when it needs none any more', async () => {
    const upstream = await startFixture('moody', { era });
    const { id } = await gateway.register(`locked-${era}`, `${upstream.origin}/mcp`);
    await upstream.counters('?mood=401');
    await whenShown(id, ({ health }) => health.state === 'auth_required');
    const before = await askedOf(upstream);
    await until('four more checks', 60_000, async () =>
      (await askedOf(upstream)) >= before + 4 ? true : undefined,
    );
    expect(await readServer(id)).toMatchObject({
      status: 'DEGRADED',
      health: { state: 'auth_required', reason: 'upstream_auth', circuit: 'closed' },
    });
    await upstream.counters('?mood=fine');
    await whenShown(id, ({ status }) => status === 'CONNECTED');
  }, 300_000);

  it('[AG-US5-AC1] [AG-US5-AC3] that is not called is checked by messages, one that is called is not', async () => {
    const upstream = await startFixture('moody', { era });
    const name = `quiet-${era}`;
    const { id } = await gateway.register(name, `${upstream.origin}/mcp`);
    const ways = async () => (await historyOf(id)).checks.map(({ way }) => way);
    const before = await askedOf(upstream);
    await until('three pings', 60_000, async () =>
      (await askedOf(upstream)) >= before + 3 ? true : undefined,
    );
    // Checks with the same result are one entry of the history.
    expect((await ways()).filter(way => way === 'ping').length).toBeGreaterThanOrEqual(1);
    await until('a check by a message', 60_000, async () => {
      await call(name);
      return (await ways())[0] === 'message' ? true : undefined;
    });
    expect(await readServer(id)).toMatchObject({ status: 'CONNECTED' });
  }, 300_000);
});

it.concurrent(
  '[AG-US5-AC1] [AG-US5-AC2] [AG-US5-AC5] a health address is checked at the interval, and decides',
  async () => {
    const upstream = await startFixture('moody');
    const { id } = await gateway.register('addressed', `${upstream.origin}/mcp`, {
      health_check_url: `${upstream.origin}/up`,
    });
    await until('it is asked four times', 60_000, async () =>
      ((await upstream.counters())['up'] ?? 0) >= 4 ? true : undefined,
    );
    await upstream.counters('?down=503');
    const shown = await whenShown(id, ({ status }) => status === 'ERROR');
    expect(shown).toMatchObject({ last_error: 'upstream_5xx: The server answered 503' });
    await upstream.counters('?down=fine');
    await whenShown(id, ({ status }) => status === 'CONNECTED', 60_000);
  },
  300_000,
);

it.concurrent(
  '[AG-US5-AC4] [UP-5] a flapping server is shown in legal states only, and correctly in the end',
  async () => {
    const upstream = await startFixture('moody');
    const { id } = await gateway.register('flapping', `${upstream.origin}/mcp`);
    for (const mood of ['500', 'fine', 'reset', 'fine', '503', '401', 'fine']) {
      await upstream.counters(`?mood=${mood}`);
      const before = (await historyOf(id)).checks.length;
      await until('another check', 60_000, async () => {
        await call('flapping');
        expect(['CONNECTED', 'DEGRADED', 'ERROR']).toContain((await readServer(id)).status);
        return (await historyOf(id)).checks.length > before ? true : undefined;
      });
    }
    await whenShown(
      id,
      ({ status, health }) => status !== 'ERROR' && health.circuit === 'closed',
      60_000,
    );
    await expectFine();
  },
  300_000,
);

it.concurrent(
  '[UP-5] calls to a failing server are refused before they are sent, until it answers again',
  async () => {
    const upstream = await startFixture('moody');
    const { id } = await gateway.register('broken', `${upstream.origin}/mcp`);
    await upstream.counters('?mood=500');
    const refused = await until('calls are refused', 60_000, async () => {
      const answer = await call('broken');
      return answer.json['code'] === 'circuit_open' ? answer : undefined;
    });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    // Every isolate knows after a second.
    await new Promise(resolve => setTimeout(resolve, 1_100));
    const { 'tools/call': before } = await upstream.counters();
    for (let i = 0; i < 20; i += 1)
      expect((await call('broken')).json['code']).toBe('circuit_open');
    expect((await upstream.counters())['tools/call']).toBe(before);
    await upstream.counters('?mood=fine');
    await whenShown(id, ({ health }) => health.circuit === 'closed', 90_000);
    await until('calls reach it', 60_000, async () =>
      (await call('broken')).status === 200 ? true : undefined,
    );
    await expectFine();
  },
  300_000,
);

it('[AG-US5-AC6] [AG-US5-AC7] health is listed with the servers and exported', async () => {
  // A check may fail on a busy machine; the next one comes within a second.
  await whenShown(fineId, ({ health }) => health.state === 'healthy');
  const { json } = await gateway.api('GET', SERVERS);
  const shown = (json['servers'] as (Shown & { name: string })[]).find(
    ({ name }) => name === 'fine',
  );
  expect(shown?.health).toMatchObject({ state: 'healthy', circuit: 'closed' });
  expect(shown?.health.response_time_ms).toBeGreaterThanOrEqual(0);
  const metrics = await gateway.api('GET', '/metrics');
  expect(metrics.text).toContain('portico_server_up{server="fine"} 1');
  expect(metrics.text).toMatch(/portico_server_response_time_seconds\{server="fine"\} \d/u);
  expect(metrics.text).toMatch(/portico_server_calls_total\{server="fine"\} [1-9]/u);
});
