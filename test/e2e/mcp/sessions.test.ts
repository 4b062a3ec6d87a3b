/** Legacy sessions: each keeps one upstream session, survives the gateway's restart, belongs to one principal, and can be ended. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort, startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { makeToken, QUIET, startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { openLegacy, openModern, resumeLegacy, textOf } from '../support/raw-client.ts';
import type { RawClient } from '../support/raw-client.ts';

const adminToken = makeToken();
let data: string;
let port: number;
let upstream: Upstream;
let gateway: Gateway;

const start = () => startGateway({ data, port, adminToken, env: QUIET });
const target = () => ({ url: `${gateway.origin}/mcp`, token: adminToken });
const count = async (client: RawClient) => textOf(await client.call('rich.counter'));
const endSession = (client: RawClient) =>
  fetch(client.target.url, {
    method: 'DELETE',
    headers: {
      authorization: `Bearer ${client.target.token}`,
      'mcp-session-id': client.sessionId ?? '',
    },
  });

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-e2e-'));
  port = await findFreePort();
  [upstream, gateway] = await Promise.all([startFixture('rich-legacy'), start()]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await rm(data, { recursive: true, force: true });
});

it('[MCP-10] gives each session its own upstream session', async () => {
  const [first, second] = await Promise.all([openLegacy(target()), openLegacy(target())]);
  expect(first.sessionId).not.toBe(second.sessionId);
  expect([await count(first), await count(first)]).toEqual(['1', '2']);
  expect(await count(second)).toBe('1');
  expect(await count(first)).toBe('3');
});

it('[MCP-10] [UP-2] keeps a session and its upstream session across a restart of the gateway', async () => {
  const before = await openLegacy(target());
  const other = await openLegacy(target());
  expect([await count(before), await count(before)]).toEqual(['1', '2']);
  const { sessionsCalled } = await upstream.counters();
  await gateway.stop();
  gateway = await start();
  const after = resumeLegacy(target(), before.sessionId);
  expect(await count(after)).toBe('3');
  expect((await upstream.counters())['sessionsCalled']).toBe(sessionsCalled);
  const listed = await resumeLegacy(target(), other.sessionId).request('tools/list');
  expect(listed.message.result?.['tools']).toBeInstanceOf(Array);
});

it('[UP-2] opens one new upstream session when the upstream forgot the old one', async () => {
  const client = await openLegacy(target());
  expect([await count(client), await count(client)]).toEqual(['1', '2']);
  const { sessionsCalled = 0 } = await upstream.counters('/forget');
  expect(await count(client)).toBe('1');
  expect(await count(client)).toBe('2');
  expect((await upstream.counters())['sessionsCalled']).toBe(sessionsCalled + 1);
});

it('[MCP-10] ends a session on DELETE', async () => {
  const client = await openLegacy(target());
  expect(await count(client)).toBe('1');
  expect((await endSession(client)).status).toBeLessThan(300);
  expect((await client.call('rich.counter')).status).toBe(404);
  expect((await client.request('tools/list')).status).toBe(404);
});

it('[MCP-10] refuses a session to another principal as if it were unknown', async () => {
  const client = await openLegacy(target());
  const { token } = await gateway.createToken({ name: 'stranger' });
  const stranger = resumeLegacy({ ...target(), token }, client.sessionId);
  const unknown = resumeLegacy({ ...target(), token }, 'no-such-session');
  const [answer, expected] = [
    await stranger.call('rich.counter'),
    await unknown.call('rich.counter'),
  ];
  expect([answer.status, answer.text]).toEqual([404, expected.text]);
  expect(await count(client)).toBe('1');
});

it('[MCP-10] serves a request without a session if none is needed', async () => {
  const without = resumeLegacy(target(), undefined);
  const listed = await without.request('tools/list');
  expect([listed.status, listed.headers.get('mcp-session-id')]).toEqual([200, null]);
  expect(listed.message.result?.['tools']).toBeInstanceOf(Array);
});

it('[MCP-5] keeps an upstream session for a modern client too', async () => {
  const client = openModern(target());
  const first = Number(await count(client));
  const { sessionsCalled } = await upstream.counters();
  expect(Number(await count(client))).toBe(first + 1);
  expect((await upstream.counters())['sessionsCalled']).toBe(sessionsCalled);
});
