/**
 * Subscriptions to single resources, by sessions and listeners, at servers of both eras: requested once upstream, and forwarded to the
 * subscribers.
 */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  ADMIN,
  PATIENT,
  createPortico,
  createToken,
  initialize,
  inSession,
  legacy,
  monitorOf,
  registerConnected,
  type RpcAnswer,
  type ServerView,
  whenQuiet,
} from '../support/portico.ts';
import { openGet, openListen, type OpenStream } from '../support/event-streams.ts';
import { TellingServer } from '../support/telling-server.ts';

const portico = createPortico();
const open: OpenStream[] = [];
const keep = (stream: OpenStream) => {
  open.push(stream);
  return stream;
};
const UPDATED = 'notifications/resources/updated';
const REFUSAL = { code: -32002, message: 'no', data: { uri: 'note://a' } };

// A legacy server without sessions: session-updates.test.ts covers subscriptions in a client's own session.
const servers = { old: new TellingServer('legacy', false), new: new TellingServer('modern') };
const records: Partial<Record<keyof typeof servers, ServerView>> = {};
const idOf = (name: keyof typeof servers) => records[name]?.id ?? '';

function serveThem() {
  fakeUpstreams({
    'https://old.example.com': servers.old.handle,
    'https://new.example.com': servers.new.handle,
  });
  for (const server of Object.values(servers)) server.asked.length = 0;
}

async function subscription(
  method: 'subscribe' | 'unsubscribe',
  uri: string,
  session: string | undefined,
  path = '/mcp',
  token = ADMIN,
) {
  const headers = session === undefined ? {} : inSession(session);
  const response = await portico.post(
    legacy(`resources/${method}`, { uri }),
    { headers, token },
    path,
  );
  return { status: response.status, ...(await response.json<RpcAnswer>()) };
}

/** The URIs that a server is currently subscribed to. */
function watched(name: keyof typeof servers): string[] {
  if (name === 'new') return servers.new.streams.at(-1)?.uris ?? [];
  const uris = new Set<string>();
  for (const entry of servers.old.asked) {
    const [sign, uri = ''] = entry.split(' ');
    if (sign === '+') uris.add(uri);
    else uris.delete(uri);
  }
  return [...uris];
}

beforeAll(async () => {
  serveThem();
  records.old = await registerConnected(portico, 'old');
  records.new = await registerConnected(portico, 'new');
  await Promise.all(Object.values(records).map(({ id }) => whenQuiet(id)));
});

/** A fake's stream keeps no monitor in memory, so each test begins with a fresh one. */
async function renew(name: keyof typeof servers) {
  await evictDurableObject(monitorOf(idOf(name))).catch(() => {});
  servers[name].streams.length = 0;
  await runDurableObjectAlarm(monitorOf(idOf(name)));
  await vi.waitFor(() => expect(servers[name].streams.length).toBeGreaterThan(0), PATIENT);
  servers[name].asked.length = 0;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(stream => stream.close()));
  await portico.settle();
});

describe.each(['old', 'new'] as const)('at the %s server', name => {
  it('[MCP-4] [MCP-5] a session gets updates of what it subscribed to, by the URI it used, until it unsubscribes', async () => {
    serveThem();
    await renew(name);
    const session = await initialize(portico);
    const get = keep(await openGet(portico, session, { token: ADMIN }));
    const path = `/mcp/servers/${name}`;
    const single = await initialize(portico, {}, path);
    const own = keep(await openGet(portico, single, { token: ADMIN, path }));
    expect(await subscription('subscribe', `${name}+note://a`, session)).toMatchObject({
      status: 200,
      result: {},
    });
    expect(await subscription('subscribe', 'note://a', single, path)).toMatchObject({
      status: 200,
      result: {},
    });
    expect(watched(name)).toEqual(['note://a']);
    expect(servers[name].asked.filter(entry => entry.includes('note://a'))).toHaveLength(1);
    await servers[name].tell(idOf(name), UPDATED, { uri: 'note://a' });
    await servers[name].tell(idOf(name), UPDATED, { uri: 'note://b' });
    await Promise.all([get.until(1), own.until(1)]);
    expect(get.messages()).toMatchObject([
      { method: UPDATED, params: { uri: `${name}+note://a` } },
    ]);
    expect(own.messages()).toMatchObject([{ method: UPDATED, params: { uri: 'note://a' } }]);
    await subscription('unsubscribe', `${name}+note://a`, session);
    expect(watched(name)).toEqual(['note://a']);
    await servers[name].tell(idOf(name), UPDATED, { uri: 'note://a' });
    await own.until(2);
    expect(get.messages()).toHaveLength(1);
    await subscription('unsubscribe', 'note://a', single, path);
    await vi.waitFor(() => expect(watched(name)).toEqual([]), PATIENT);
  });

  it('[SEC-9] frequent updates are coalesced: the last is sent, few before it, and none of another resource is lost', async () => {
    serveThem();
    await renew(name);
    const session = await initialize(portico);
    const path = `/mcp/servers/${name}`;
    const single = await initialize(portico, {}, path);
    const get = keep(await openGet(portico, session, { token: ADMIN }));
    const own = keep(await openGet(portico, single, { token: ADMIN, path }));
    for (const uri of ['a', 'b']) {
      await subscription('subscribe', `${name}+note://${uri}`, session);
      await subscription('subscribe', `note://${uri}`, single, path);
    }
    const told: unknown[] = [];
    for (let count = 1; count <= 200; count += 1) {
      const params = { uri: count === 100 ? 'note://b' : 'note://a', _meta: { count } };
      told.push(servers[name].tell(idOf(name), UPDATED, params));
    }
    await Promise.all(told);
    const countOf = (message: object | undefined) =>
      (message as { params?: { _meta?: { count?: number } } } | undefined)?.params?._meta?.count;
    for (const stream of [get, own]) {
      await vi.waitFor(() => expect(stream.messages().map(countOf)).toContain(200), PATIENT);
      expect(stream.messages().map(countOf)).toContain(100);
      expect(stream.messages().length).toBeLessThan(20);
    }
    await portico.fetch('/mcp', {
      method: 'DELETE',
      headers: { ...inSession(session), authorization: `Bearer ${ADMIN}` },
    });
    await portico.fetch(path, {
      method: 'DELETE',
      headers: { ...inSession(single), authorization: `Bearer ${ADMIN}` },
    });
    await vi.waitFor(() => expect(watched(name)).toEqual([]), PATIENT);
  });

  it('[MCP-4] [MCP-5] a listener gets updates of the resources it named, and of no other', async () => {
    serveThem();
    await renew(name);
    const wanted = [`${name}+note://a`, `${name}+note://unlisted`, 'nowhere+note://a'];
    const listen = keep(
      await openListen(portico, { resourceSubscriptions: wanted }, {}, { id: 'r' }),
    );
    expect(listen.messages()[0]?.params).toMatchObject({
      notifications: { resourceSubscriptions: wanted.slice(0, 2) },
    });
    expect(watched(name).toSorted()).toEqual(['note://a', 'note://unlisted']);
    await servers[name].tell(idOf(name), UPDATED, { uri: 'note://b' });
    await servers[name].tell(idOf(name), UPDATED, { uri: 'note://a' });
    await servers[name].tell(idOf(name), UPDATED, { uri: 'note://unlisted/part' });
    await listen.until(3);
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 'r' };
    expect(
      listen
        .messages()
        .slice(1)
        .map(({ params }) => params),
    ).toEqual([
      { uri: `${name}+note://a`, _meta },
      { uri: `${name}+note://unlisted/part`, _meta },
    ]);
    await listen.close();
    await vi.waitFor(() => expect(watched(name)).toEqual([]), PATIENT);
  });

  it('[MCP-4] [UP-2] a subscription survives lost memory of the monitor, and a restart of the server', async () => {
    serveThem();
    await renew(name);
    const session = await initialize(portico);
    const get = keep(await openGet(portico, session, { token: ADMIN }));
    await subscription('subscribe', `${name}+note://a`, session);
    await renew(name);
    expect(name === 'new' ? watched('new') : ['note://a']).toEqual(['note://a']);
    await servers[name].tell(idOf(name), UPDATED, { uri: 'note://a' });
    await get.until(1);
    // Without sessions only the end of the stream shows that it restarted.
    if (name === 'old') {
      await subscription('unsubscribe', `${name}+note://a`, session);
      return;
    }
    await servers[name].restart(idOf(name));
    await vi.waitFor(() => expect(servers[name].streams).toHaveLength(0), PATIENT);
    await runDurableObjectAlarm(monitorOf(idOf(name)));
    await vi.waitFor(() => expect(servers[name].streams.length).toBeGreaterThan(0), PATIENT);
    await vi.waitFor(() => expect(watched(name)).toEqual(['note://a']), PATIENT);
    await servers[name].tell(idOf(name), UPDATED, { uri: 'note://a' });
    await get.until(2);
    await subscription('unsubscribe', `${name}+note://a`, session);
  });
});

describe('a refusal of', () => {
  it('[MCP-10] a subscription without a session', async () => {
    serveThem();
    expect(await subscription('subscribe', 'old+note://a', undefined)).toMatchObject({
      status: 400,
      error: { code: 4001 },
    });
  });

  it('[MCP-9] a resource of a hidden server, like an unknown one', async () => {
    serveThem();
    const { token } = await createToken(portico, { servers: ['new'] });
    const session = await initialize(portico, { token });
    const hidden = await subscription('subscribe', 'old+note://a', session, '/mcp', token);
    const unknown = await subscription('subscribe', 'off+note://a', session, '/mcp', token);
    expect(hidden.error?.code).toBe(-32002);
    expect(unknown).toEqual({
      ...hidden,
      error: { ...hidden.error, message: hidden.error?.message.replace('old', 'off') },
    });
    expect(servers.old.asked).toEqual([]);
  });

  it('[MCP-4] what its server refuses, and nothing of it stays', async () => {
    serveThem();
    await renew('old');
    const refusing = fakeUpstreams({
      'https://old.example.com': async request => {
        const text = await request.clone().text();
        if (!text.includes('resources/subscribe')) return servers.old.handle(request);
        const { id } = JSON.parse(text) as { id: number };
        return Response.json({ jsonrpc: '2.0', id, error: REFUSAL });
      },
    });
    const session = await initialize(portico);
    const answer = await subscription('subscribe', 'old+note://a', session);
    expect(answer.error).toEqual(REFUSAL);
    expect(refusing.length).toBeGreaterThan(0);
    const left = await runInDurableObject(monitorOf(idOf('old')), (_object, { storage }) =>
      storage.list({ prefix: 'subscriber/' }),
    );
    expect(left.size).toBe(0);
  });
});

describe('a session that ends', () => {
  it('[MCP-10] [MCP-4] has its subscriptions ended at the server', async () => {
    serveThem();
    await renew('old');
    const session = await initialize(portico);
    await subscription('subscribe', 'old+note://a', session);
    expect(watched('old')).toEqual(['note://a']);
    await portico.fetch('/mcp', {
      method: 'DELETE',
      headers: { authorization: `Bearer ${ADMIN}`, ...inSession(session) },
    });
    await portico.settle();
    await vi.waitFor(() => expect(watched('old')).toEqual([]), PATIENT);
  });
});
