/** Health checks: how a server is checked, how the results change its status, and where that is shown. The tests run alarms by hand. */
import { env } from 'cloudflare:workers';
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeServer, serve } from '../support/fake-server.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  createPortico,
  createToken,
  monitorOf,
  PATIENT,
  register,
  registerConnected,
  SERVERS,
  whenServer,
  whenQuiet,
  whenSorted,
} from '../support/portico.ts';
import { beat, historyOf, readShown, failTimes } from '../support/health.ts';

const portico = createPortico();
afterEach(() => portico.settle());

const json = (status: number) => () => new Response('{}', { status });
/** How long after its last check a server's monitor wakes next, and in how long, at most. */
const wakes = async (id: string) => {
  await whenQuiet(id);
  const alarm = await runInDurableObject(monitorOf(id), (_, { storage }) => storage.getAlarm());
  const { health } = await readShown(portico, id);
  const at = alarm ?? Number.NaN;
  return { afterMs: at - Date.parse(health.checked_at ?? ''), inMs: at - Date.now() };
};

describe('a server with a health URL', () => {
  it('[AG-US5-AC2] [SEC-2] is checked there, with its credential on its own origin only', async () => {
    const seen: Request[] = [];
    const health = (request: Request) => {
      seen.push(request);
      return new Response('fine');
    };
    const server = new FakeServer();
    const own = (request: Request) =>
      new URL(request.url).pathname === '/up' ? health(request) : server.handle(request);
    fakeUpstreams({ 'https://asked.example.com': own, 'https://else.example.com': health });
    const connection_config = {
      url: 'https://asked.example.com/mcp',
      headers: { 'x-key': 'canary-health' },
    };
    const { id } = await registerConnected(portico, 'asked', {
      connection_config,
      health_check_url: 'https://asked.example.com/up',
    });
    expect(await beat(portico, id)).toMatchObject({ state: 'healthy', reason: null });
    await portico.api('PATCH', `${SERVERS}/${id}`, {
      health_check_url: 'https://else.example.com/up',
    });
    await beat(portico, id);
    const given = seen.map(({ method, url, headers }) => [method, url, headers.get('x-key')]);
    expect(given).toContainEqual(['GET', 'https://asked.example.com/up', 'canary-health']);
    expect(given).toContainEqual(['GET', 'https://else.example.com/up', null]);
    expect(given.filter(([, url, key]) => String(url).includes('else') && key)).toEqual([]);
  });

  it('[AG-US5-AC4] [AG-US5-AC5] becomes ERROR at the third failure there, and recovers with a good check', async () => {
    let answer = json(200);
    fakeUpstreams({
      'https://thrice.example.com': new FakeServer().handle,
      'https://thrice-health.example.com': () => answer(),
    });
    const { id } = await registerConnected(portico, 'thrice', {
      health_check_url: 'https://thrice-health.example.com/',
    });
    await beat(portico, id);
    answer = json(503);
    for (const [failures, shown] of await failTimes(portico, id, 3)) {
      const failing = failures === 0 ? ['CONNECTED', 'healthy'] : ['CONNECTED', 'failing'];
      expect([failures, shown]).toEqual([failures, failures < 3 ? failing : ['ERROR', 'down']]);
    }
    expect(await readShown(portico, id)).toMatchObject({
      last_error: 'upstream_5xx: The server answered 503',
      health: { reason: 'upstream_5xx' },
    });
    answer = () => new Response(null, { status: 204 });
    expect(await beat(portico, id)).toMatchObject({ state: 'healthy', consecutive_failures: 0 });
    expect(await readShown(portico, id)).toMatchObject({ status: 'CONNECTED', last_error: null });
  });

  it.each([
    ['a redirect', () => Response.redirect('https://evil.example.com/', 302), 'upstream_redirect'],
    ['404', json(404), 'upstream_4xx'],
    ['silence', () => Promise.reject(new TypeError('refused')), 'upstream_unreachable'],
  ] as const)('[AG-US5-AC2] [SEC-3] treats %s as a failure', async (what, answer, reason) => {
    const name = `bad-${what.replaceAll(/\W/g, '-')}`;
    const seen = fakeUpstreams({
      [`https://${name}.example.com`]: new FakeServer().handle,
      'https://bad-health.example.com': answer,
    });
    const { id } = await registerConnected(portico, name, {
      health_check_url: 'https://bad-health.example.com/up',
    });
    expect(await beat(portico, id)).toMatchObject({ state: 'failing', reason });
    expect(seen.filter(request => request.includes('evil'))).toEqual([]);
  });
});

describe('a server without one', () => {
  it.each(['legacy', 'modern'] as const)(
    '[AG-US5-AC3] that is %s gets a light message if none was exchanged since the last check',
    async era => {
      const server = new FakeServer({ era });
      const name = `quiet-${era}`;
      serve({ [name]: server });
      const { id } = await registerConnected(portico, name);
      await beat(portico, id);
      const method = era === 'modern' ? 'server/discover' : 'ping';
      const before = server.of(method).length;
      await beat(portico, id);
      expect(server.of(method)).toHaveLength(before + 1);
      const { checks } = await historyOf(portico, id);
      expect(checks[0]).toMatchObject({ finding: 'good', way: 'ping' });
    },
  );

  it('[AG-US5-AC8] that hangs is given 5 seconds', async () => {
    const server = new FakeServer();
    serve({ hung: server });
    const { id } = await registerConnected(portico, 'hung');
    server.outage = () => new Promise(() => {});
    const health = await beat(portico, id);
    expect(health).toMatchObject({ state: 'failing', reason: 'upstream_timeout' });
    expect(health.response_time_ms).toBeGreaterThanOrEqual(4_990);
    expect((await readShown(portico, id)).last_error).toBe(
      'upstream_timeout: The server did not answer within 5000 ms',
    );
  });

  it.each([401, 403])(
    '[REG-4] that answers %i requires another credential and is never down for that',
    async status => {
      const name = `locked-${status}`;
      const server = new FakeServer();
      serve({ [name]: server });
      const { id } = await registerConnected(portico, name);
      server.outage = json(status);
      for (let i = 0; i < 5; i += 1) {
        expect(await beat(portico, id)).toMatchObject({
          state: 'auth_required',
          consecutive_failures: 0,
        });
        expect((await readShown(portico, id)).status).toBe('DEGRADED');
      }
      server.outage = undefined;
      expect(await beat(portico, id)).toMatchObject({ state: 'healthy' });
      expect((await readShown(portico, id)).status).toBe('CONNECTED');
    },
  );

  it('[REG-4] [SEC-2] is DEGRADED, with one line without an address, if it requires a credential from the start', async () => {
    const server = new FakeServer();
    server.outage = json(401);
    serve({ closed: server });
    const { id } = await register(portico, 'closed');
    const record = await whenServer(portico, id, ({ status }) => status === 'DEGRADED');
    expect(record.last_error).toBe(
      'upstream_auth: The server wants a credential, and none is stored for it',
    );
    server.outage = undefined;
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
  });
});

describe('checks', () => {
  it("[AG-US5-AC1] run at the interval of the deployment or the server's own, which applies at once", async () => {
    serve({ timed: new FakeServer() });
    const { id } = await registerConnected(portico, 'timed');
    const usual = await wakes(id);
    expect(usual.afterMs).toBeGreaterThanOrEqual(27_000);
    expect(usual.inMs).toBeLessThanOrEqual(33_000);
    await portico.api('PATCH', `${SERVERS}/${id}`, { health_check: { interval_seconds: 5 } });
    await beat(portico, id);
    const own = await wakes(id);
    expect(own.afterMs).toBeGreaterThanOrEqual(4_500);
    expect(own.inMs).toBeLessThanOrEqual(5_500);
  });

  it("[AG-US5-AC5] count to the server's own threshold", async () => {
    const server = new FakeServer();
    serve({ patient: server });
    const { id } = await registerConnected(portico, 'patient', {
      health_check: { failure_threshold: 1 },
    });
    server.outage = json(500);
    await beat(portico, id);
    expect((await readShown(portico, id)).status).toBe('ERROR');
  });

  it('[REG-4] without news leave the registry unchanged', async () => {
    serve({ steady: new FakeServer() });
    const { id } = await registerConnected(portico, 'steady');
    await beat(portico, id);
    await whenSorted(id);
    const revision = () => env.DB.prepare('SELECT revision FROM registry_revision').first();
    const before = await revision();
    const { checked_at: first } = await beat(portico, id);
    const { checked_at: second } = await beat(portico, id);
    expect(Date.parse(second ?? '')).toBeGreaterThanOrEqual(Date.parse(first ?? ''));
    expect(await revision()).toEqual(before);
  });

  it('[AG-US5-AC6] are shown in the list, unknown before the first and after a connect, and deleted with the server', async () => {
    const server = new FakeServer();
    serve({ shown: server });
    const created = await register(portico, 'shown', { auto_connect: false });
    expect(created).toMatchObject({ health: { state: 'disconnected', checked_at: null } });
    const { id } = created;
    await portico.api('POST', `${SERVERS}/${id}/connect`);
    await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
    await beat(portico, id);
    const listed = await (
      await portico.api('GET', SERVERS)
    ).json<{ servers: { id: string; health: object }[] }>();
    expect(listed.servers.find(each => each.id === id)?.health).toMatchObject({
      state: 'healthy',
      consecutive_failures: 0,
    });
    await portico.api('POST', `${SERVERS}/${id}/disconnect`);
    expect(await readShown(portico, id)).toMatchObject({ health: { state: 'disconnected' } });
    // Nothing is known of it until it answers, which happens during its deletion.
    const answering = Promise.withResolvers<void>();
    server.outage = async request => {
      await answering.promise;
      server.outage = undefined;
      return server.handle(request);
    };
    await portico.api('POST', `${SERVERS}/${id}/connect`);
    expect(await readShown(portico, id)).toMatchObject({ status: 'CONNECTING' });
    const deletion = portico.api('DELETE', `${SERVERS}/${id}`);
    await runInDurableObject(monitorOf(id), () => answering.resolve());
    expect((await deletion).status).toBe(204);
    const rows = env.DB.prepare('SELECT * FROM server_health WHERE server_id = ?').bind(id);
    expect(await rows.first()).toBeNull();
    // The cycle that was running ends after the deletion, and removes what it wrote.
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(monitorOf(id));
      const left = await runInDurableObject(monitorOf(id), async (_, { storage }) => [
        (await storage.list()).size,
        await storage.getAlarm(),
      ]);
      expect(left).toEqual([0, null]);
    }, PATIENT);
    expect(await rows.first()).toBeNull();
  });
});

describe('the history', () => {
  it('[REG-4] shows the checks, newest first, in pages', async () => {
    const server = new FakeServer();
    serve({ told: server });
    const { id } = await registerConnected(portico, 'told');
    server.outage = json(500);
    for (let i = 0; i < 4; i += 1) await beat(portico, id);
    const first = await historyOf(portico, id, '?limit=3');
    expect(first.checks.map(({ finding }) => finding)).toEqual(['failed', 'failed', 'failed']);
    expect(first.checks[0]).toMatchObject({ reason: 'upstream_5xx', way: 'ping' });
    const rest = await historyOf(portico, id, `?limit=200&before=${first.next_before}`);
    expect(rest.next_before).toBeNull();
    const ids = [...first.checks, ...rest.checks].map(check => check.id);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    expect(rest.checks.at(-1)).toMatchObject({ finding: 'good', way: 'look' });
  });

  it('[REG-4] [SEC-4] keeps 500 checks', async () => {
    serve({ long: new FakeServer() });
    const { id } = await registerConnected(portico, 'long');
    const finding = { kind: 'good', way: 'ping', reason: null, detail: null, responseTimeMs: 1 };
    await runInDurableObject(monitorOf(id), async (_, { storage }) => {
      const { HealthLog } = await import('../../../src/servers/health/health-log-store.ts');
      const log = new HealthLog(storage.sql);
      for (let i = 0; i < 700; i += 1) log.addCheck(i, finding as never);
      expect(storage.sql.exec('SELECT COUNT(*) AS count FROM checks').one()).toEqual({
        count: 500,
      });
    });
  });

  it('[ACC-2] is for those who may read servers, and of existing servers', async () => {
    serve({ guarded: new FakeServer() });
    const { id } = await registerConnected(portico, 'guarded');
    const { token } = await createToken(portico, { scopes: ['tools:call'] });
    const path = `${SERVERS}/${id}/health`;
    expect((await portico.api('GET', path, undefined, { token })).status).toBe(403);
    expect((await portico.api('GET', path, undefined, { token: null })).status).toBe(401);
    expect((await portico.api('GET', `${SERVERS}/nobody/health`)).status).toBe(404);
    expect((await portico.api('GET', `${path}?limit=0`)).status).toBe(422);
  });
});
