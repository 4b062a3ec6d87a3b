/** The alerts of `monitoring/`: a real Prometheus watches a real gateway, and each alert fires while something is wrong, and no longer. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { startPrometheus, type Prometheus } from '../support/prometheus.ts';

/** The gateway checks its servers every second, and counts calls as they are made. */
const QUICK = {
  PORTICO_HEALTH_INTERVAL_MS: '1000',
  PORTICO_DISCOVERY_INTERVAL_MS: '1000',
  PORTICO_REPORT_INTERVAL_MS: '200',
};
const SLOW_MS = 900;
const AT_ONCE = 5;

let gateway: Gateway;
let notes: Upstream;
let well: Upstream;
let faulty: Upstream;
let prometheus: Prometheus;

beforeAll(async () => {
  const [started, rich, ...others] = await Promise.all([
    startGateway({ env: QUICK }),
    startFixture('rich-modern'),
    startFixture('moody'),
    startFixture('moody'),
    startFixture('faulty', { era: 'modern' }),
  ]);
  gateway = started;
  [well, notes, faulty] = others;
  await gateway.register('rich', `${rich.origin}/mcp`);
  await gateway.register('well', `${well.origin}/mcp`);
  await gateway.register('notes', `${notes.origin}/mcp`);
  await gateway.register('faulty', `${faulty.origin}/mcp`);
  const { token } = await gateway.createToken({ name: 'Prometheus', scopes: ['admin'] });
  prometheus = await startPrometheus({ target: `127.0.0.1:${gateway.port}`, token });
});

afterAll(async () => {
  await prometheus?.stop();
  await gateway?.stop();
});

const call = (name: string, given: object = {}) =>
  gateway.api('POST', '/api/v1/tools/call', { name, arguments: given });

/** A machine that is busy with tests may itself be slow. */
const firing = async () =>
  (await prometheus.firing()).filter(({ name }) => name !== 'PorticoGatewaySlow');

it('[OPS-2] nothing fires while everything works', async () => {
  await call('notes.act');
  expect(await firing()).toEqual([]);
});

it('[OPS-2] a killed server is reported as down, calls to it are refused, and both alerts end when it is back', async () => {
  const alerts = ['PorticoServerDown', 'PorticoCircuitOpen'];
  await notes.stop();
  for (const name of alerts) {
    await prometheus.untilFires({ name, server: 'notes' }, () => call('notes.act'));
  }
  expect((await firing()).filter(({ server }) => server !== 'notes')).toEqual([]);
  notes = await startFixture('moody', { port: notes.port });
  for (const name of alerts) await prometheus.untilStops({ name, server: 'notes' });
});

it('[OPS-2] a server that fails some calls is reported, and one that fails none is not', async () => {
  const alert = { name: 'PorticoServerFailing', server: 'faulty' };
  await prometheus.untilFires(alert, async () => {
    await call('faulty.act', { fault: 'status-500' });
    await call('faulty.act');
    await call('well.act');
  });
  expect(await prometheus.firing()).not.toContainEqual({ ...alert, server: 'well' });
  await prometheus.untilStops(alert, () => call('faulty.act'));
});

it('[OPS-2] a slow server is reported, and a quick one is not', async () => {
  const alert = { name: 'PorticoServerSlow', server: 'rich' };
  const slow = { ms: SLOW_MS, message: 'late' };
  await prometheus.untilFires(alert, async () => {
    await Promise.all([call('rich.slow', slow), call('well.act')]);
  });
  expect(await prometheus.firing()).not.toContainEqual({ ...alert, server: 'well' });
  await prometheus.untilStops(alert, () => call('rich.echo', { message: 'at once' }));
});

it('[OPS-2] [SEC-7] held tools are reported until somebody decides', async () => {
  const alert = { name: 'PorticoToolsHeld', server: 'well' };
  await well.counters('?description=Something+else');
  await prometheus.untilFires(alert);
  expect(await prometheus.firing()).not.toContainEqual({ ...alert, server: 'rich' });
  const { json } = await gateway.api('GET', '/api/v1/approvals');
  const items = (json['approvals'] as Record<string, string>[]).map(
    ({ server_id, kind, name, held_fingerprint: fingerprint }) => {
      return { server_id, kind, name, fingerprint };
    },
  );
  const { status } = await gateway.api('POST', '/api/v1/approvals/approve', { items });
  expect(status).toBe(200);
  await prometheus.untilStops(alert);
});

it('[OPS-2] refusals are reported while there are many', async () => {
  const alert = { name: 'PorticoManyRefused', server: undefined };
  const refused = Array.from({ length: AT_ONCE }, () => 'rich.unknown');
  await prometheus.untilFires(alert, () => Promise.all(refused.map(name => call(name))));
  await expect(prometheus.untilStops(alert)).resolves.toBe(true);
});

it('[OPS-2] a gateway that is down is reported until it is back', async () => {
  const alert = { name: 'PorticoDown', server: undefined };
  const { data, port, adminToken } = gateway;
  await gateway.kill();
  await expect(prometheus.untilFires(alert)).resolves.toBe(true);
  gateway = await startGateway({ data, port, adminToken, env: QUICK });
  await expect(prometheus.untilStops(alert)).resolves.toBe(true);
});
