/** Resources subscribed to in a client's own session at a legacy server: updates reach that client alone, while it is subscribed. */
import { listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClientSession } from '../../../src/objects/client-session-object.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { loseMemory } from '../support/lose-memory.ts';
import {
  ADMIN,
  PATIENT,
  createPortico,
  createToken,
  initialize,
  inSession,
  legacy,
  registerConnected,
  type RpcAnswer,
  whenQuiet,
} from '../support/portico.ts';
import { openGet, openListen, type OpenStream } from '../support/event-streams.ts';
import { TellingServer } from '../support/telling-server.ts';

const portico = createPortico();
const server = new TellingServer('legacy', true, true);
const open: OpenStream[] = [];
const UPDATED = 'notifications/resources/updated';
const QUALIFIED = 'telling+note://a';
const REFUSAL = { code: -32002, message: 'no', data: { uri: 'note://a' } };

const keep = (stream: OpenStream) => {
  open.push(stream);
  return stream;
};

async function subscription(
  method: 'subscribe' | 'unsubscribe',
  session: string,
  token = ADMIN,
): Promise<RpcAnswer> {
  const message = legacy(`resources/${method}`, { uri: QUALIFIED });
  const response = await portico.post(message, { headers: inSession(session), token });
  return response.json<RpcAnswer>();
}

/** The server's sessions with a subscription to a resource, newest last. */
function subscribed(): string[] {
  const sessions = new Set<string>();
  for (const entry of server.asked) {
    const [sign, , session = ''] = entry.split(' ');
    if (sign === '+') sessions.add(session);
    else sessions.delete(session);
  }
  return [...sessions].filter(session => server.sessions.has(session));
}

const objects = async () =>
  (await listDurableObjectIds(env.CLIENT_SESSION)).map(id => id.toString());

/** The objects with a subscription in a session of their own. */
async function holders() {
  const found = [];
  for (const id of await objects()) {
    const object = env.CLIENT_SESSION.get(env.CLIENT_SESSION.idFromString(id));
    const stored = await runInDurableObject(object, (_, { storage }) =>
      storage.list({ prefix: 'session-subscription/' }),
    );
    if (stored.size > 0) found.push(object);
  }
  return found;
}

/** The only such object. */
async function holder() {
  const found = await holders();
  expect(found.length).toBe(1);
  const [object] = found;
  if (!object) throw new Error('Nobody holds a subscription');
  return object;
}

const other = new TellingServer('modern');

const serveIt = () =>
  fakeUpstreams({
    'https://telling.example.com': server.handle,
    'https://other.example.com': other.handle,
  });

beforeAll(async () => {
  serveIt();
  for (const name of ['telling', 'other']) {
    await whenQuiet((await registerConnected(portico, name)).id);
  }
});

beforeEach(() => {
  serveIt();
  server.asked.length = 0;
});

afterEach(async () => {
  await Promise.all(open.splice(0).map(stream => stream.close()));
  await portico.settle();
});

async function end(session: string, token = ADMIN): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, ...inSession(session) };
  await portico.fetch('/mcp', { method: 'DELETE', headers });
  await portico.settle();
}

/** The object loses its memory and its client reconnects; the resource is subscribed to again. */
async function reopened(object: DurableObjectStub<ClientSession>, session: string) {
  await loseMemory(object);
  server.streams.length = 0;
  server.asked.length = 0;
  const stream = keep(await openGet(portico, session, { token: ADMIN }));
  await vi.waitFor(() => expect(subscribed()).toHaveLength(1), PATIENT);
  const [own] = subscribed();
  const holding = () => server.streams.map(known => known.session);
  await vi.waitFor(() => expect(holding()).toContain(own), PATIENT);
  return stream;
}

describe('a legacy client', () => {
  it('[MCP-4] [MCP-5] gets the updates of its own session, and no other client does', async () => {
    const ada = await initialize(portico);
    const bob = await initialize(portico);
    const streams = [
      keep(await openGet(portico, ada, { token: ADMIN })),
      keep(await openGet(portico, bob, { token: ADMIN })),
    ] as const;
    expect(await subscription('subscribe', ada)).toMatchObject({ result: {} });
    const [own = ''] = subscribed();
    expect(await subscription('subscribe', bob)).toMatchObject({ result: {} });
    expect(new Set(subscribed()).size).toBe(2);
    await server.tellSession(own, UPDATED, { uri: 'note://a', more: 1 });
    await server.tellSession(own, UPDATED, { uri: 'note://b' });
    await streams[0].until(1);
    expect(streams[0].messages()).toMatchObject([
      { method: UPDATED, params: { uri: QUALIFIED, more: 1 } },
    ]);
    expect(streams[1].messages()).toEqual([]);
    await subscription('unsubscribe', ada);
    await vi.waitFor(() => expect(subscribed()).not.toContain(own), PATIENT);
    await server.tellSession(own, UPDATED, { uri: 'note://a' });
    await end(ada);
    await end(bob);
    expect(streams[0].messages()).toHaveLength(1);
    expect((await holders()).length).toBe(0);
  });

  it('[MCP-4] [UP-2] still gets updates after its object lost its memory, and after the server forgot the session', async () => {
    const ada = await initialize(portico);
    keep(await openGet(portico, ada, { token: ADMIN }));
    await subscription('subscribe', ada);
    const object = await holder();
    const [first = ''] = subscribed();
    const again = await reopened(object, ada);
    await server.tellSession(first, UPDATED, { uri: 'note://a' });
    await again.until(1);
    server.sessions.clear();
    const last = await reopened(await holder(), ada);
    const [anew = ''] = subscribed();
    expect(anew).not.toBe(first);
    await server.tellSession(anew, UPDATED, { uri: 'note://a' });
    await last.until(1);
    await end(ada);
    expect((await holders()).length).toBe(0);
  });

  it('[MCP-4] ends a subscription at its server though its object lost its memory', async () => {
    const ada = await initialize(portico);
    await subscription('subscribe', ada);
    expect(subscribed()).toHaveLength(1);
    await loseMemory(await holder());
    expect(await subscription('unsubscribe', ada)).toMatchObject({ result: {} });
    await vi.waitFor(() => expect(subscribed()).toEqual([]), PATIENT);
    const requests = server.asked.length;
    await subscription('unsubscribe', ada);
    await portico.settle();
    expect(server.asked).toHaveLength(requests);
    await end(ada);
  });

  it('[MCP-4] gets the refusal of its server, and nothing of it stays', async () => {
    fakeUpstreams({
      'https://telling.example.com': async request => {
        const text = await request.clone().text();
        if (!text.includes('resources/subscribe')) return server.handle(request);
        const { id } = JSON.parse(text) as { id: number };
        return Response.json({ jsonrpc: '2.0', id, error: REFUSAL });
      },
    });
    const ada = await initialize(portico);
    const answer = await subscription('subscribe', ada);
    expect(answer.error).toEqual(REFUSAL);
    expect((await holders()).length).toBe(0);
    await end(ada);
  });

  it('[MCP-9] [ACC-3] that cannot see the server causes no request to it', async () => {
    const { token } = await createToken(portico, { servers: ['other'] });
    const session = await initialize(portico, { token });
    const { error } = await subscription('subscribe', session, token);
    expect(error?.code).toBe(-32002);
    expect([server.asked, (await holders()).length]).toEqual([[], 0]);
  });
});

describe('a listener of the modern era', () => {
  it("[MCP-5] gets the updates of its principal's session, until it leaves", async () => {
    const listen = keep(await openListen(portico, { resourceSubscriptions: [QUALIFIED] }));
    const [own = ''] = subscribed();
    const object = await holder();
    await server.tellSession(own, UPDATED, { uri: 'note://a' });
    await listen.until(2);
    expect(listen.messages()[1]).toMatchObject({ method: UPDATED, params: { uri: QUALIFIED } });
    await loseMemory(object);
    server.asked.length = 0;
    server.streams.length = 0;
    await runDurableObjectAlarm(await holder());
    await vi.waitFor(() => expect(subscribed()).toEqual([own]), PATIENT);
    await server.tellSession(own, UPDATED, { uri: 'note://a' });
    await listen.until(3);
    await listen.close();
    await vi.waitFor(() => expect(subscribed()).toEqual([]), PATIENT);
    expect((await holders()).length).toBe(0);
  });
});
