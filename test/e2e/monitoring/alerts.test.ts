/** The alerts of `monitoring/`: a real Prometheus watches a real gateway, and each fires while something is wrong, and no longer. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { startPrometheus, type Prometheus } from '../support/prometheus.ts';

/** The gateway looks after its servers each second, and counts calls as they are made. */
const QUICK = { PORTICO_HEALTH_INTERVAL_MS: '1000', PORTICO_REPORT_INTERVAL_MS: '200' };

let gateway: Gateway;
let notes: Upstream;
let faulty: Upstream;
let prometheus: Prometheus;

beforeAll(async () => {
  const [started, well, ...others] = await Promise.all([
    startGateway({ env: QUICK }),
    startFixture('moody'),
    startFixture('moody'),
    startFixture('faulty', { era: 'modern' }),
  ]);
  gateway = started;
  [notes, faulty] = others;
  await gateway.register('well', `${well.origin}/mcp`);
  await gateway.register('notes', `${notes.origin}/mcp`);
  await gateway.register('faulty', `${faulty.origin}/mcp`);
  const { token } = await gateway.createToken({ name: 'Prometheus', scopes: ['servers:read'] });
  prometheus = await startPrometheus({ target: `127.0.0.1:${gateway.port}`, token });
});

afterAll(async () => {
  await prometheus?.stop();
  await gateway?.stop();
});

const call = (name: string, given: object = {}) =>
  gateway.api('POST', '/api/v1/tools/call', { name, arguments: given });

it('[OPS-2] nothing fires while all is well', async () => {
  await call('notes.act');
  expect(await prometheus.firing()).toEqual([]);
});

it('[OPS-2] a server that is killed is down, calls are kept from it, and both end with it', async () => {
  const alerts = ['PorticoServerDown', 'PorticoCircuitOpen'];
  await notes.stop();
  for (const name of alerts) {
    await prometheus.untilFires({ name, server: 'notes' }, () => call('notes.act'));
  }
  expect((await prometheus.firing()).filter(({ server }) => server !== 'notes')).toEqual([]);
  notes = await startFixture('moody', { port: notes.port });
  for (const name of alerts) await prometheus.untilStops({ name, server: 'notes' });
});

it('[OPS-2] a server that fails some calls is told of, and one that fails none is not', async () => {
  const alert = { name: 'PorticoServerFailing', server: 'faulty' };
  await prometheus.untilFires(alert, async () => {
    await call('faulty.act', { fault: 'status-500' });
    await call('faulty.act');
    await call('well.act');
  });
  expect(await prometheus.firing()).not.toContainEqual({ ...alert, server: 'well' });
  await prometheus.untilStops(alert, () => call('faulty.act'));
});

it('[OPS-2] a gateway that is gone is told of until it is there again', async () => {
  const alert = { name: 'PorticoDown', server: undefined };
  const { data, port, adminToken } = gateway;
  await gateway.kill();
  await expect(prometheus.untilFires(alert)).resolves.toBe(true);
  gateway = await startGateway({ data, port, adminToken, env: QUICK });
  await expect(prometheus.untilStops(alert)).resolves.toBe(true);
});
