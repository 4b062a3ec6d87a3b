/** What calls report about a server's health: counted in the isolate, stored by the monitor, shown as windows and metrics. */
import { countAsked } from '../support/asked-objects.ts';
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeServer, resultOf, serve, type SeenPost } from '../support/fake-server.ts';
import { holdTimers } from '../support/held-timers.ts';
import {
  PATIENT,
  SERVERS,
  createPortico,
  createToken,
  legacy,
  modern,
  monitorOf,
  registerConnected,
} from '../support/portico.ts';
import { beat, callTool, historyOf, NO_REPORT, readShown } from '../support/health.ts';

const portico = createPortico();
afterEach(() => portico.settle());

const fail = () => new Response('{}', { status: 500 });
const succeed = (post: SeenPost) => resultOf(post, { content: [] });
/** Waits until all reports of calls were sent. */
const told = () => portico.settle();

describe('calls', () => {
  it('[AG-US5-AC7] are counted with their failures, reasons and durations', async () => {
    const server = new FakeServer({ sessionful: false });
    serve({ counted: server });
    const { id } = await registerConnected(portico, 'counted');
    await callTool(portico, 'counted.echo', 6);
    server.call = fail;
    expect(await callTool(portico, 'counted.echo', 2)).toEqual(['upstream_5xx', 'upstream_5xx']);
    server.call = () => new Response('{}', { status: 404 });
    await callTool(portico, 'counted.echo', 2);
    await told();
    const { windows } = await historyOf(portico, id);
    for (const window of [windows['1m'], windows['5m'], windows['1h']]) {
      expect(window).toMatchObject({
        calls: 10,
        errors: 2,
        error_rate: 0.2,
        reasons: { upstream_5xx: 2 },
      });
      expect(window.average_ms).toBeGreaterThanOrEqual(0);
      expect(window.p95_ms).toBeGreaterThanOrEqual(window.p50_ms ?? Infinity);
    }
  });

  it.each(['legacy', 'modern'] as const)(
    '[AG-US5-AC7] of %s clients count too, in JSON and in streams, and faults of others do not',
    async era => {
      const server = new FakeServer({ era });
      const name = `kinds-${era}`;
      serve({ [name]: server });
      const { id } = await registerConnected(portico, name);
      const call = async () => {
        const params = { name: `${name}.echo`, arguments: {} };
        const { message, headers } = modern('tools/call', params);
        await (await portico.post(message, { headers })).text();
        await (await portico.post(legacy('tools/call', params))).text();
      };
      await call();
      server.call = post =>
        new Response(
          `data: ${JSON.stringify({ jsonrpc: '2.0', id: post.id, result: { content: [], isError: true } })}\n\n`,
          { headers: { 'content-type': 'text/event-stream' } },
        );
      await call();
      const error = { code: -32603, message: 'Internal error' };
      server.call = post => Response.json({ jsonrpc: '2.0', id: post.id, error });
      await call();
      server.call = () =>
        new Response('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n', {
          headers: { 'content-type': 'text/event-stream' },
        });
      await call();
      await told();
      expect((await historyOf(portico, id)).windows['1h']).toMatchObject({
        calls: 8,
        errors: 2,
        reasons: { upstream_no_response: 2 },
      });
    },
  );

  it('[AG-US5-AC3] that succeed replace a check', async () => {
    const server = new FakeServer();
    serve({ busy: server });
    const { id } = await registerConnected(portico, 'busy');
    await beat(portico, id);
    const pings = server.of('ping').length;
    await callTool(portico, 'busy.echo');
    await told();
    expect(await beat(portico, id)).toMatchObject({ state: 'healthy' });
    expect(server.of('ping')).toHaveLength(pings);
    expect((await historyOf(portico, id)).checks[0]).toMatchObject({
      way: 'message',
      finding: 'good',
    });
    await beat(portico, id);
    expect(server.of('ping')).toHaveLength(pings + 1);
  });

  it('[REG-4] that fail too often make a server DEGRADED, until failures become rare', async () => {
    const server = new FakeServer();
    serve({ shaky: server });
    const { id } = await registerConnected(portico, 'shaky');
    let count = 0;
    // Every third fails: never enough in a row for anything else.
    server.call = post => ((count += 1) % 3 === 0 ? fail() : succeed(post));
    await callTool(portico, 'shaky.echo', 12);
    await told();
    expect(await beat(portico, id)).toMatchObject({
      state: 'degraded',
      reason: 'upstream_5xx',
      error_rate: 4 / 12,
    });
    expect(await readShown(portico, id)).toMatchObject({
      status: 'DEGRADED',
      last_error: 'elevated_errors: Too many calls fail',
    });
    server.call = succeed;
    await callTool(portico, 'shaky.echo', 12);
    await told();
    expect(await beat(portico, id)).toMatchObject({ state: 'healthy', error_rate: 4 / 24 });
    expect(await readShown(portico, id)).toMatchObject({ status: 'CONNECTED', last_error: null });
  });

  it('[REG-4] do not make a server DEGRADED that was reached otherwise', async () => {
    const server = new FakeServer();
    serve({ moved: server });
    const { id } = await registerConnected(portico, 'moved');
    server.call = fail;
    await callTool(portico, 'moved.echo', 12);
    await told();
    await portico.api('POST', `${SERVERS}/${id}/disconnect`);
    await portico.api('POST', `${SERVERS}/${id}/connect`);
    await vi.waitFor(
      async () =>
        expect(await readShown(portico, id)).toMatchObject({
          status: 'CONNECTED',
          health: { state: 'healthy', error_rate: null },
        }),
      PATIENT,
    );
    expect((await historyOf(portico, id)).windows['1h'].errors).toBeGreaterThanOrEqual(3);
  });

  it('[REG-4] that fail several times in a row bring the check forward', async () => {
    const server = new FakeServer();
    serve({ sudden: server });
    const { id } = await registerConnected(portico, 'sudden');
    await beat(portico, id);
    server.outage = () => new Promise(() => {});
    const report = { ...NO_REPORT, calls: 3, errors: 3, failuresInRow: 3 };
    await monitorOf(id).report(report);
    const alarm = await runInDurableObject(monitorOf(id), (_, { storage }) => storage.getAlarm());
    expect(alarm ?? 0).toBeLessThan(Date.now() + 1_000);
    server.outage = undefined;
  });

  it('[REG-4] cost no object and no query of their own', async () => {
    serve({ light: new FakeServer({ sessionful: false }) });
    // Reports are sent after all calls have ended, and no call lasts long enough to open a channel.
    const slow = createPortico({ PORTICO_REPORT_INTERVAL_MS: '3000' });
    await registerConnected(slow, 'light');
    await callTool(slow, 'light.echo');
    await slow.settle();
    holdTimers(250);
    const asked = countAsked(env.SERVER_MONITOR);
    await callTool(slow, 'light.echo', 3);
    const during = asked();
    await slow.settle();
    expect(during).toBe(0);
    expect(asked()).toBeGreaterThanOrEqual(1);
  });
});

describe('reports', () => {
  it('[SEC-4] are kept for an hour, and deleted with their server', async () => {
    serve({ kept: new FakeServer() });
    const { id } = await registerConnected(portico, 'kept');
    await runInDurableObject(monitorOf(id), async (_, { storage }) => {
      const { HealthLog } = await import('../../../src/servers/health/health-log-store.ts');
      const log = new HealthLog(storage.sql);
      const totals = { callsTotal: 1, errorsTotal: 0, lastGoodAt: null };
      for (let slot = 0; slot < 1_000; slot += 1) {
        log.addCalls(Date.now() - 10_000 * (1_000 - slot), 1, ONE, totals);
      }
      const { count } = storage.sql.exec('SELECT COUNT(*) AS count FROM call_slots').one();
      expect(count).toBeLessThan(365);
    });
    await portico.api('DELETE', `${SERVERS}/${id}`);
    await monitorOf(id).report(ONE);
    const left = await runInDurableObject(
      monitorOf(id),
      async (_, { storage }) => (await storage.list()).size,
    );
    expect(left).toBe(0);
  });
});

describe('a report of good calls', () => {
  it('[EDGE-2] [REG-4] writes one row, and survives an eviction', async () => {
    serve({ cheap: new FakeServer({ sessionful: false }) });
    const { id } = await registerConnected(portico, 'cheap');
    const good = { ...ONE, generation: 1, lastGoodAt: Date.now(), isRowWhole: false };
    await monitorOf(id).report(good);
    const written = await runInDurableObject(monitorOf(id), async (monitor, { storage }) => {
      let rows = 0;
      const exec = vi.spyOn(storage.sql, 'exec');
      const put = vi.spyOn(storage, 'put');
      await (monitor as unknown as { report(report: object): Promise<boolean> }).report(good);
      for (const { value } of exec.mock.results)
        rows += (value as SqlStorageCursor<never>).rowsWritten;
      return rows + put.mock.calls.length;
    });
    expect(written).toBe(1);
    await evictDurableObject(monitorOf(id));
    await beat(portico, id);
    expect(await (await portico.api('GET', '/metrics')).text()).toContain(
      'portico_server_calls_total{server="cheap"} 2',
    );
  });
});

describe('metrics', () => {
  it('[AG-US5-AC7] [OPS-2] show every server to those who may read servers', async () => {
    serve({ measured: new FakeServer() });
    const { id } = await registerConnected(portico, 'measured');
    await callTool(portico, 'measured.echo', 4);
    await told();
    await beat(portico, id);
    const response = await portico.api('GET', '/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    expect(text).toContain('portico_server_up{server="measured"} 1');
    expect(text).toContain('portico_server_calls_total{server="measured"} 4');
    expect(text).toMatch(/portico_server_response_time_seconds\{server="measured"\} \d/);
    const { token } = await createToken(portico, { scopes: ['tools:call'] });
    expect((await portico.api('GET', '/metrics', undefined, { token })).status).toBe(403);
    expect((await portico.fetch('/metrics')).status).toBe(401);
  });
});

const ONE = { ...NO_REPORT, calls: 1 };
