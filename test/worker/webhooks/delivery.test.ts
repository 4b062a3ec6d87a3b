/**
 * Delivery of events: in order for each subject, retried until they are accepted, across the end of the object, and given up in the end.
 */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pass } from '../support/clock.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { createPortico, PATIENT, register } from '../support/portico.ts';
import {
  alarmAt,
  createReceiver,
  deliveriesOf,
  makeWebhook,
  RECEIVER,
  ring,
  setStatus,
  WEBHOOKS,
  webhooksObject,
  type Got,
  type Receiver,
  type Webhook,
} from '../support/webhooks.ts';

const HOUR_MS = 3_600_000;
const portico = createPortico();
let made = 0;
let receiver: Receiver;
let webhook: Webhook;
let servers: string[];

/** Runs the alarm until nothing is due at this time. */
const deliverAll = () =>
  vi.waitFor(async () => {
    await ring();
    const waiting = (await deliveriesOf(portico, webhook.id)).filter(
      ({ state }) => state === 'pending',
    );
    expect(waiting).toEqual([]);
  }, PATIENT);

/** Statuses of a server in the order in which they arrived, each once. */
const statusesAt = (id: string, got: readonly Got[]) => {
  const first = new Map(got.map(one => [one.id, one]));
  return [...first.values()]
    .filter(({ body }) => (body.data['server'] as { id: string }).id === id)
    .map(({ body }) => body.type);
};

beforeEach(async () => {
  made += 1;
  receiver = createReceiver();
  servers = [];
  for (const name of [`one-${made}`, `two-${made}`]) {
    servers.push((await register(portico, name, { auto_connect: false })).id);
  }
  const ids = servers.map(id =>
    env.DB.prepare(`UPDATE servers SET status = 'CONNECTING' WHERE id = ?`).bind(id),
  );
  await env.DB.batch(ids);
  webhook = await makeWebhook(portico, `hook-${made}`, { events: ['server.down', 'server.up'] });
});

afterEach(async () => {
  vi.useRealTimers();
  await portico.api('DELETE', `${WEBHOOKS}/${webhook.id}`);
});

it('[OPS-7] reach a receiver that was down for an hour, none lost and in order, across the end of the object', async () => {
  receiver.refuse = () => new Response('down', { status: 503 });
  const [one = '', two = ''] = servers;
  const want = ['server.up', 'server.down', 'server.up'];
  for (const status of ['CONNECTED', 'ERROR', 'DEGRADED']) {
    await setStatus(one, status);
    await setStatus(two, status);
  }
  await webhooksObject().expect();
  for (let minutes = 0; minutes < 60; minutes += 6) {
    await ring();
    pass(HOUR_MS / 10);
    if (minutes === 30) {
      await runInDurableObject(webhooksObject(), (_object, state) =>
        state.abort('Instance disposed'),
      ).catch(() => undefined);
    }
  }
  expect(receiver.got).toEqual([]);
  const waiting = await deliveriesOf(portico, webhook.id);
  expect(waiting).toHaveLength(6);
  // Events after the first of their subject were not tried.
  expect(waiting.map(({ attempts }) => attempts > 0).toSorted()).toEqual(
    [false, false, false, false, true, true].toSorted(),
  );
  expect(waiting.find(({ attempts }) => attempts > 0)).toMatchObject({
    status: 503,
    problem: 'it answered 503',
  });
  receiver.refuse = undefined;
  pass(HOUR_MS);
  await deliverAll();
  expect(statusesAt(one, receiver.got)).toEqual(want);
  expect(statusesAt(two, receiver.got)).toEqual(want);
});

it('[OPS-7] delay only later events of their own subject', async () => {
  const [one = '', two = ''] = servers;
  receiver.refuse = ({ text }) => (text.includes(one) ? Response.error() : undefined);
  for (const status of ['CONNECTED', 'ERROR']) {
    await setStatus(one, status);
    await setStatus(two, status);
  }
  await webhooksObject().wake();
  await vi.waitFor(async () => {
    await ring();
    expect(statusesAt(two, receiver.got)).toEqual(['server.up', 'server.down']);
  }, PATIENT);
  expect(statusesAt(one, receiver.got)).toEqual([]);
});

it('[OPS-7] are given up after a day, stay listed, and are sent again on request', async () => {
  receiver.refuse = () => new Response(null, { status: 500 });
  const [one = ''] = servers;
  await setStatus(one, 'CONNECTED');
  await webhooksObject().wake();
  for (let hours = 0; hours <= 26; hours += 1) {
    await vi.waitFor(ring, PATIENT);
    pass(HOUR_MS);
  }
  const [dead] = await deliveriesOf(portico, webhook.id);
  expect(dead).toMatchObject({ state: 'dead', type: 'server.up', status: 500 });
  expect(dead?.attempts).toBeGreaterThan(5);
  const shown = await (await portico.api('GET', `${WEBHOOKS}/${webhook.id}`)).json();
  expect(shown).toMatchObject({ pending: 0, dead: 1 });
  const asked = receiver.asked;
  await webhooksObject().wake();
  await ring();
  expect(receiver.asked).toBe(asked);

  receiver.refuse = undefined;
  const path = `${WEBHOOKS}/${webhook.id}/deliveries/${dead?.id}/retry`;
  const retried = await portico.api('POST', path);
  expect([retried.status, await retried.json()]).toMatchObject([200, { state: 'pending' }]);
  await deliverAll();
  expect(receiver.got.map(({ id }) => id)).toEqual([dead?.id]);
  expect((await portico.api('POST', path)).status).toBe(409);
});

it('[OPS-7] are deleted 30 days after they ended, also if no other event comes', async () => {
  await setStatus(servers[0] ?? '', 'CONNECTED');
  await webhooksObject().wake();
  await deliverAll();
  expect(await deliveriesOf(portico, webhook.id)).toHaveLength(1);
  pass(29 * 24 * HOUR_MS);
  await ring();
  expect(await deliveriesOf(portico, webhook.id)).toHaveLength(1);
  pass(25 * HOUR_MS);
  await ring();
  expect(await deliveriesOf(portico, webhook.id)).toEqual([]);
});

it('[OPS-7] wait as long as the receiver asks for', async () => {
  receiver.refuse = () => new Response(null, { status: 429, headers: { 'retry-after': '1800' } });
  await setStatus(servers[0] ?? '', 'CONNECTED');
  await webhooksObject().wake();
  await vi.waitFor(async () => {
    await ring();
    expect(receiver.asked).toBe(1);
  }, PATIENT);
  const { next_at: nextAt } = (
    await env.DB.prepare('SELECT next_at FROM webhook_deliveries WHERE webhook_id = ?')
      .bind(webhook.id)
      .all<{ next_at: number }>()
  ).results[0] ?? { next_at: 0 };
  expect(nextAt - Date.now()).toBeGreaterThan(1_700_000);
  pass(HOUR_MS);
  receiver.refuse = undefined;
  await deliverAll();
  expect(receiver.got).toHaveLength(1);
});

it('[OPS-7] [SEC-3] follow no redirect, and are not sent while the webhook is off', async () => {
  const location = { location: 'https://elsewhere.example.com/' };
  receiver.refuse = () => new Response(null, { status: 302, headers: location });
  await setStatus(servers[0] ?? '', 'CONNECTED');
  await webhooksObject().wake();
  await vi.waitFor(async () => {
    await ring();
    expect(await deliveriesOf(portico, webhook.id)).toMatchObject([
      { state: 'pending', status: 302, problem: 'it redirects, which is not followed' },
    ]);
  }, PATIENT);
  receiver.refuse = undefined;
  const { asked } = receiver;
  await portico.api('PATCH', `${WEBHOOKS}/${webhook.id}`, { enabled: false });
  await setStatus(servers[0] ?? '', 'ERROR');
  pass(HOUR_MS);
  await webhooksObject().wake();
  await ring();
  expect(receiver.asked).toBe(asked);
  expect(await deliveriesOf(portico, webhook.id)).toHaveLength(1);
});

it('[OPS-7] stop within a run once the webhook is deleted', async () => {
  const answered = Promise.withResolvers<Response>();
  let asked = 0;
  fakeUpstreams({
    [RECEIVER]: () => {
      asked += 1;
      return answered.promise.then(response => response.clone());
    },
  });
  const insert = env.DB.prepare(
    `INSERT INTO webhook_deliveries (webhook_id, type, subject, data, occurred_at, next_at, give_up_at)
     VALUES (?1, 'server.up', ?2, '{}', ?3, ?3, ?3 + 86400000)`,
  );
  await env.DB.batch(
    Array.from({ length: 12 }, (_, at) => insert.bind(webhook.id, `subject-${at}`, Date.now())),
  );
  await webhooksObject().wake();
  const running = ring();
  await vi.waitFor(() => expect(asked).toBe(5), PATIENT);
  expect((await portico.api('DELETE', `${WEBHOOKS}/${webhook.id}`)).status).toBe(204);
  answered.resolve(new Response('down', { status: 503 }));
  await running;
  expect(asked).toBe(5);
});

it('[OPS-7] cost no alarm and no row if there is no webhook', async () => {
  await portico.api('DELETE', `${WEBHOOKS}/${webhook.id}`);
  await vi.waitFor(async () => {
    await ring();
    expect(await alarmAt()).toBeNull();
  }, PATIENT);
  await setStatus(servers[0] ?? '', 'CONNECTED');
  const { results } = await env.DB.prepare('SELECT * FROM webhook_deliveries').all();
  expect(results).toEqual([]);
});
