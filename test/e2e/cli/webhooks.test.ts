/** `portico webhooks` on a real gateway, with a receiver that verifies what it receives. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway?.stop();
});

const portico = (words: string, input = '') =>
  runPortico(words.split(' '), {
    cwd: process.cwd(),
    env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken },
    input,
  });

it('[OPS-7] [OPS-8] [SEC-1] a webhook is created, tested, switched off, given another secret and removed', async () => {
  expect((await portico('webhooks')).err).toContain('no webhooks yet');
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/canary-in-address`;
  const made = await portico('webhooks add mine --event server.down', `${url}\n`);
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^whsec_\S+=\n$/)]);
  expect(made.err).toBe("webhook 'mine' is created; the secret is not shown again\n");
  const untold = await portico('webhooks test mine');
  expect([untold.code, untold.err]).toEqual([
    1,
    expect.stringContaining('not delivered: it cannot be reached'),
  ]);

  const receiver = await startWebhookReceiver(port, made.out.trim());
  expect((await portico('webhooks test mine')).err).toBe('delivered; the receiver answered 204\n');
  expect(receiver.taken.map(({ body }) => body.type)).toEqual(['webhook.test']);
  const other = await portico('webhooks rotate mine');
  expect(other.out).toMatch(/^whsec_\S+=\n$/);
  expect(other.out).not.toBe(made.out);
  // The former secret still signs too.
  expect((await portico('webhooks test mine')).code).toBe(0);

  const off = await portico('webhooks off mine');
  expect(off.err).toBe("webhook 'mine' is off\n");
  const list = await portico('webhooks');
  expect(list.out).toMatch(/^NAME +STATE +WAITING.*\nmine +off +0 +0 +portico +server\.down +http/);
  const shown = await portico('webhooks show mine --json');
  expect(`${list.out}${shown.out}`).not.toContain('canary');
  expect((await portico('webhooks deliveries mine')).err).toBe('nothing was sent yet\n');
  expect((await portico('webhooks retry mine msg_0')).code).toBe(4);
  expect((await portico('webhooks remove mine')).err).toBe("webhook 'mine' is removed\n");
  await receiver.stop();
});

it('[OPS-7] an unknown event is refused', async () => {
  const wrong = await portico('webhooks add odd --event server.sideways', 'https://a.example.com/');
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('events')]);
});
