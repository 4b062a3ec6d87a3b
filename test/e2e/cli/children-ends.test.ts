/** How children and calls end: with every process that they started, with an answer to every waiting caller, within bounds. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import {
  headersFor,
  modernHeaders,
  openLegacy,
  openModern,
  requestBody,
  textOf,
} from '../support/raw-client.ts';
import { closeStands, isGone, node, openStand, pidOf } from '../support/stdio-stand.ts';
import { openWireSession } from '../support/wire-session.ts';

afterAll(closeStands);

const odd = (...options: string[]) => node('test/fixtures/odd-stdio.ts', ...options);

/** Opens a port to which a grandchild keeps a connection while it lives. */
async function openLifeLine() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connected = once(server, 'connection').then(([socket]) => (socket as Socket).resume());
  const isCut = async () => {
    const socket = await connected;
    socket.on('error', () => undefined);
    if (!socket.closed) await once(socket, 'close');
    server.close();
  };
  return { port, connected, isCut };
}

describe('[CLI-1] stopping a child', () => {
  it('ends a child that ignores SIGTERM and the end of its input', async () => {
    const stand = await openStand(odd('--stubborn'), { limits: { closeMs: 50, graceMs: 200 } });
    await openLegacy(stand);
    const pid = pidOf(stand);
    await stand.close();
    expect(await until('it is gone', 60_000, () => isGone(pid))).toBe(true);
  });

  it('ends the processes that it started', async () => {
    const line = await openLifeLine();
    const stand = await openStand(odd(), { limits: { graceMs: 200 } });
    await (await openLegacy(stand)).call('spawn', { port: line.port });
    await line.connected;
    await stand.close();
    await expect(line.isCut()).resolves.toBeUndefined();
  });

  it('ends the processes of a crashed child before the next one starts', async () => {
    const line = await openLifeLine();
    const stand = await openStand(odd(), { limits: { graceMs: 200, closeMs: 100 } });
    const client = await openLegacy(stand);
    await client.call('spawn', { port: line.port });
    await line.connected;
    expect((await client.call('crash')).status).toBe(502);
    await expect(line.isCut()).resolves.toBeUndefined();
    expect((await openLegacy(stand)).sessionId).toBeDefined();
    await stand.close();
  });

  it('answers the calls under way with an error', async () => {
    const stand = await openStand(odd());
    const session = await openWireSession(stand.url, { sampling: {} });
    const asking = await session.call('ask', { method: 'sampling/createMessage' });
    await stand.server.child.stop();
    await asking.over;
    expect(asking.messages().at(-1)).toMatchObject({
      error: { message: 'The server was stopped before it answered' },
    });
    await stand.close();
  });
});

describe('[CLI-1] a client that goes away', () => {
  it.each(['hangs up', 'takes its call back'])(
    '%s: the child is told, under its own request id',
    async how => {
      const stand = await openStand(odd());
      const session = await openWireSession(stand.url, { sampling: {} });
      const asking = await session.call('ask', { method: 'sampling/createMessage' }, 'mine');
      await asking.heard('the question', ({ method }) => method === 'sampling/createMessage');
      if (how === 'hangs up') asking.hangUp();
      else {
        const params = { requestId: 'mine', reason: 'changed-my-mind' };
        await session.send({ method: 'notifications/cancelled', params });
      }
      await asking.over;
      const other = await openLegacy(stand);
      const reasons = await until('the child heard', 20_000, async () => {
        return textOf(await other.call('cancelled')) || undefined;
      });
      expect(reasons).toBe(how === 'hangs up' ? 'cancelled' : 'changed-my-mind');
      await stand.close();
    },
  );

  it('disconnects from a modern child: the child is told', async () => {
    const stand = await openStand(node('test/fixtures/conformance-stdio.ts'));
    const controller = new AbortController();
    const params = '{"name":"hang","_meta":{"progressToken":1}}';
    const hanging = await fetch(stand.url, {
      method: 'POST',
      headers: headersFor(stand, modernHeaders('tools/call', 'hang')),
      body: requestBody('modern', 'tools/call', params, 1),
      signal: controller.signal,
    });
    expect(hanging.headers.get('content-type')).toBe('text/event-stream');
    controller.abort();
    const client = openModern(stand);
    await until('the child heard', 20_000, async () =>
      textOf(await client.call('hung')) === '1' ? true : undefined,
    );
    await stand.close();
  });

  it("cannot cancel another session's call with the same id", async () => {
    const stand = await openStand(odd());
    const [session, other] = [
      await openWireSession(stand.url, { sampling: {} }),
      await openWireSession(stand.url),
    ];
    const asking = await session.call('ask', { method: 'sampling/createMessage' }, 1);
    const asked = await asking.heard('the question', ({ method }) => method !== undefined);
    await other.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await session.send({ id: asked['id'], result: { role: 'assistant' } });
    const answer = await asking.heard('the answer', ({ id }) => id === 1);
    expect(answer).toHaveProperty('result');
    await stand.close();
  });

  it('leaves responses unread: the child waits, and unread data is dropped', async () => {
    const limits = { answerBytes: 1_000_000, stallMs: 200 };
    const stand = await openStand(odd(), { limits });
    const client = await openLegacy(stand);
    const body = requestBody(
      'legacy',
      'tools/call',
      '{"name":"big","arguments":{"bytes":2000000}}',
      1,
    );
    const request = {
      method: 'POST' as const,
      headers: { 'mcp-session-id': client.sessionId ?? '' },
      body: new TextEncoder().encode(body),
      signal: new AbortController().signal,
    };
    // Never read.
    expect((await stand.server.handle(request)).status).toBe(200);
    expect(textOf(await client.call('pid'))).toBe(String(pidOf(stand)));
    await stand.close();
  });
});

describe('[CLI-1] limits', () => {
  it('refuses a call when too many calls are under way', async () => {
    const stand = await openStand(odd(), { limits: { calls: 1 } });
    const session = await openWireSession(stand.url, { sampling: {} });
    const asking = await session.call('ask', { method: 'sampling/createMessage' });
    await asking.heard('the question', ({ method }) => method !== undefined);
    const refused = await session.call('pid');
    await refused.over;
    expect(refused.status).toBe(503);
    expect(refused.text()).toContain('Too many calls are running');
    await stand.close();
  });
});
