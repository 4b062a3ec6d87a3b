/** Events of a real gateway for a receiver that is down when they happen, across a kill of the gateway. */
import { rm } from 'node:fs/promises';
import { afterAll, expect, it } from 'vitest';
import { findFreePort, startFixture, until } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const WEBHOOKS = '/api/v1/webhooks';
const SERVERS = '/api/v1/aggregator/servers';
const SOON_MS = 60_000;
const CANARY = 'canary-7d20f1';
const folders: string[] = [];

afterAll(() => Promise.all(folders.map(data => rm(data, { recursive: true, force: true }))));

interface Delivery {
  type: string;
  state: string;
  attempts: number;
  problem: string | null;
}

async function deliveriesAt(gateway: Gateway): Promise<Delivery[]> {
  const { json } = await gateway.api('GET', `${WEBHOOKS}/on-call/deliveries`);
  return json['deliveries'] as Delivery[];
}

it('[OPS-7] [SEC-1] each event arrives, signed and in order, though the receiver was down and the gateway was killed', async () => {
  const port = await findFreePort();
  const upstream = await startFixture('rich-modern');
  const gateway = await startGateway();
  folders.push(gateway.data);
  const url = `http://127.0.0.1:${port}/${CANARY}`;
  const made = await gateway.api('POST', WEBHOOKS, { name: 'on-call', url });
  expect([made.status, made.json]).toMatchObject([201, { webhook: { name: 'on-call' } }]);
  const headers = { authorization: `Bearer ${CANARY}` };
  const { id } = await gateway.register('rich', `${upstream.origin}/mcp`, { headers });
  const tried = await until('it was tried', SOON_MS, async () =>
    (await deliveriesAt(gateway)).find(({ attempts }) => attempts > 0),
  );
  expect(tried).toMatchObject({
    type: 'server.up',
    state: 'pending',
    problem: 'it cannot be reached',
  });
  await upstream.stop();
  await gateway.api('POST', `${SERVERS}/${id}/disconnect`);
  await gateway.api('POST', `${SERVERS}/${id}/connect`);
  await gateway.waitFor(id, 'ERROR');
  await gateway.kill();

  const receiver = await startWebhookReceiver(port, String(made.json['secret']));
  const { data, adminToken } = gateway;
  const again = await startGateway({ data, adminToken, port: gateway.port });
  const told = () => [
    ...new Map(
      receiver.taken
        .filter(({ body }) => body.data.server?.id === id)
        .map(one => [one.id, one.body.type]),
    ).values(),
  ];
  await until('both arrive', SOON_MS, () => Promise.resolve(told().length > 1 ? true : undefined));
  expect(told()).toEqual(['server.up', 'server.down']);
  await until('all is delivered', SOON_MS, async () => {
    const states = (await deliveriesAt(again)).map(({ state }) => state);
    return states.every(state => state === 'delivered') ? true : undefined;
  });
  const tested = await again.api('POST', `${WEBHOOKS}/on-call/test`);
  expect(tested.json).toEqual({ delivered: true, status: 204, problem: null });
  expect(receiver.refused).toBe(0);
  expect(receiver.taken.map(({ text }) => text).join('\n')).not.toContain(CANARY);
  await receiver.stop();
  expect((await again.api('POST', `${WEBHOOKS}/on-call/test`)).json).toEqual({
    delivered: false,
    status: null,
    problem: 'it cannot be reached',
  });
  await again.stop();
});
