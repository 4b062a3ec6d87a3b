/** The events of webhooks: held tools, servers that fail and recover, people who sign in; each with its cause, and without a secret. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { look } from '../support/approvals.ts';
import { createBrowser } from '../support/browser.ts';
import { FakeServer, toolOf } from '../support/fake-server.ts';
import type { FakeUpstream } from '../support/fake-upstreams.ts';
import { createPortico, createToken, PATIENT, register, whenServer } from '../support/portico.ts';
import {
  createReceiver,
  makeWebhook,
  ring,
  WEBHOOKS,
  type Receiver,
  type Webhook,
} from '../support/webhooks.ts';

const CANARY = 'canary-4f1d2c';
const portico = createPortico();
let network: Record<string, FakeUpstream>;
let receiver: Receiver;
let webhook: Webhook;
let made = 0;

/** A server on the network with a secret in its credential, which it repeats in its errors. */
function serveAt(name: string, server: FakeServer): void {
  network[`https://${name}.example.com`] = request => server.handle(request);
}
const withSecret = { headers: { authorization: `Bearer ${CANARY}` } };
const configOf = (name: string) => ({
  connection_config: { url: `https://${name}.example.com/mcp`, ...withSecret },
});

/** Waits for this many events of a type. */
const arrived = (type: string, count = 1) =>
  vi.waitFor(async () => {
    await ring();
    const found = receiver.got.filter(({ body }) => body.type === type);
    expect(found).toHaveLength(count);
    return found.map(({ body }) => body);
  }, PATIENT);

beforeEach(async () => {
  network = {};
  receiver = createReceiver(network);
  webhook = await makeWebhook(portico, `told-${(made += 1)}`);
});
afterEach(async () => {
  const told = receiver.got.filter(({ text }) => text.includes('canary'));
  if (told.length > 0) throw new Error(`a secret is in ${told[0]?.text}`);
  await portico.api('DELETE', `${WEBHOOKS}/${webhook.id}`);
});

it('[OPS-7] a server that answers, fails and answers again', async () => {
  const server = new FakeServer({ tools: [toolOf('read')] });
  serveAt('falling', server);
  const { id } = await register(portico, 'falling', configOf('falling'));
  await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
  const [first] = await arrived('server.up');
  expect(first).toEqual({
    type: 'server.up',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: { server: { id, name: 'falling' }, status: 'CONNECTED', before: 'CONNECTING' },
  });
  server.outage = () => Promise.resolve(new Response(CANARY, { status: 500 }));
  await portico.api('POST', `/api/v1/aggregator/servers/${id}/disconnect`);
  await portico.api('POST', `/api/v1/aggregator/servers/${id}/connect`);
  await whenServer(portico, id, ({ status }) => status === 'ERROR');
  const [down] = await arrived('server.down');
  expect(down?.data).toMatchObject({ server: { id, name: 'falling' }, status: 'ERROR' });
  server.outage = undefined;
  await portico.api('POST', `/api/v1/aggregator/servers/${id}/connect`);
  await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
  await arrived('server.up', 2);
});

it('[OPS-7] [REG-4] a server that refuses its credential, and accepts it again', async () => {
  const server = new FakeServer({ tools: [toolOf('read')] });
  serveAt('refusing', server);
  const { id } = await register(portico, 'refusing', configOf('refusing'));
  await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
  await arrived('server.up');
  server.outage = () => Promise.resolve(new Response(CANARY, { status: 401 }));
  await portico.api('POST', `/api/v1/aggregator/servers/${id}/connect`);
  await whenServer(portico, id, ({ status }) => status === 'DEGRADED');
  const [refused] = await arrived('server.auth_required');
  const named = { server: { id, name: 'refusing' } };
  expect(refused?.data).toEqual({ ...named, status: 'DEGRADED' });
  // The event is sent once, however often that is found.
  await look(portico, id);
  await arrived('server.auth_required');
  server.outage = undefined;
  await portico.api('POST', `/api/v1/aggregator/servers/${id}/connect`);
  await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
  const [, back] = await arrived('server.up', 2);
  expect(back?.data).toEqual({ ...named, status: 'CONNECTED', before: 'DEGRADED' });
});

it('[OPS-7] [ACC-8] not a server at which people have accounts of their own', async () => {
  const server = new FakeServer({ tools: [toolOf('read')] });
  server.outage = () => Promise.resolve(new Response('', { status: 401 }));
  serveAt('personal', server);
  const more = { ...configOf('personal'), accounts: 'per_principal' };
  const { id } = await register(portico, 'personal', more);
  await whenServer(portico, id, ({ status }) => status === 'DEGRADED');
  await arrived('server.up');
  expect(await arrived('server.auth_required', 0)).toEqual([]);
});

it('[OPS-7] [SEC-7] held tools, all of one discovery in one event', async () => {
  const tools = Array.from({ length: 60 }, (_, n) => toolOf(`tool-${n}`));
  const server = new FakeServer({ tools });
  serveAt('holding', server);
  const more = { ...configOf('holding'), tool_approval: 'hold' };
  const { id } = await register(portico, 'holding', more);
  await whenServer(portico, id, ({ held_tools: held }) => held === 60);
  const [event] = await arrived('tool.held');
  const named = event?.data['tools'] as { name: string }[];
  expect(event?.data).toMatchObject({ server: { id, name: 'holding' }, held: 60 });
  expect(named).toHaveLength(50);
  expect(named[0]).toEqual({ kind: 'tool', name: 'tool-0', state: 'pending' });
  // A discovery without news holds nothing new.
  await look(portico, id);
  await arrived('tool.held');
});

it('[OPS-7] a person who signs in', async () => {
  const { token } = await createToken(portico, { name: 'ada' });
  await createBrowser(portico).post('/sign-in', { code: token });
  const [event] = await arrived('sign_in');
  expect(event?.data).toMatchObject({ principal: { name: 'ada' }, by: 'token' });
  expect(JSON.stringify(event)).not.toContain(token);
});

it('[OPS-7] nothing but the events that it was created for', async () => {
  const other = await makeWebhook(portico, 'other', { events: ['tool.held'] });
  const { token } = await createToken(portico, { name: 'bob' });
  await createBrowser(portico).post('/sign-in', { code: token });
  await arrived('sign_in');
  const found = await env.DB.prepare('SELECT * FROM webhook_deliveries WHERE webhook_id = ?')
    .bind(other.id)
    .all();
  expect(found.results).toEqual([]);
  await portico.api('DELETE', `${WEBHOOKS}/${other.id}`);
});
