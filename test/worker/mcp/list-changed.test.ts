/**
 * A server's list changes reach every open stream that may see them, at once and in order, also after the objects lost their memory; and no
 * other stream.
 */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  ADMIN,
  PATIENT,
  SERVERS,
  TRUSTED,
  createPortico,
  createToken,
  initialize,
  inSession,
  legacy,
  modern,
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
const changed = (list: string) => `notifications/${list}/list_changed`;
const ALL = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };

/** Servers of both eras, registered under their names; each test must serve the fakes again. */
const servers = { old: new TellingServer('legacy'), new: new TellingServer('modern') };
const records: Partial<Record<keyof typeof servers, ServerView>> = {};
const serveThem = () =>
  fakeUpstreams({
    'https://old.example.com': servers.old.handle,
    'https://new.example.com': servers.new.handle,
  });
const idOf = (name: keyof typeof servers) => records[name]?.id ?? '';

/** Adds a tool and announces it. */
async function addTool(name: keyof typeof servers, tool: string): Promise<void> {
  servers[name].lists.tools.push({ name: tool, inputSchema: { type: 'object' } });
  await servers[name].tell(idOf(name), changed('tools'));
}

beforeAll(async () => {
  serveThem();
  records.old = await registerConnected(portico, 'old', TRUSTED);
  records.new = await registerConnected(portico, 'new', TRUSTED);
});

/** A fake's stream keeps no monitor in memory, which is lost after ten seconds: this one restarts, and listens. */
async function renew(name: keyof typeof servers): Promise<void> {
  await evictDurableObject(monitorOf(idOf(name))).catch(() => {});
  servers[name].streams.length = 0;
  await runDurableObjectAlarm(monitorOf(idOf(name)));
  await vi.waitFor(() => expect(servers[name].streams).toHaveLength(1), PATIENT);
  await whenQuiet(idOf(name));
}

beforeEach(async () => {
  serveThem();
  await renew('old');
  await renew('new');
});

afterEach(async () => {
  await Promise.all(open.splice(0).map(stream => stream.close()));
  await portico.settle();
});

describe('capabilities', () => {
  it('[MCP-4] announce list changes', async () => {
    const wanted = {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
    };
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    };
    const opened = await (await portico.post(legacy('initialize', params))).json<RpcAnswer>();
    expect(opened.result).toMatchObject({ capabilities: wanted });
    const { message, headers } = modern('server/discover');
    const discovered = await (await portico.post(message, { headers })).json<RpcAnswer>();
    expect(discovered.result).toMatchObject({ capabilities: wanted });
  });
});

describe.each(['old', 'new'] as const)('a change at the %s server', name => {
  it('[MCP-4] [REG-5] is sent to sessions and listeners at once, and a list read then is new', async () => {
    const session = await initialize(portico);
    const get = keep(await openGet(portico, session, { token: ADMIN }));
    const listen = keep(await openListen(portico, ALL));
    await portico.post(legacy('tools/list'), { headers: inSession(session) });
    await addTool(name, `${name}-more`);
    await Promise.all([get.until(1), listen.until(2)]);
    expect(get.methods()).toEqual([changed('tools')]);
    expect(listen.methods()).toEqual([
      'notifications/subscriptions/acknowledged',
      changed('tools'),
    ]);
    const listed = await (
      await portico.post(legacy('tools/list'), { headers: inSession(session) })
    ).json<RpcAnswer>();
    expect(listed.result?.tools?.map(tool => tool.name)).toContain(`${name}.${name}-more`);
  });

  it('[MCP-4] is announced by kind, and only for what changed', async () => {
    const get = keep(await openGet(portico, await initialize(portico), { token: ADMIN }));
    servers[name].lists.prompts.push({ name: `${name}-prompt` });
    servers[name].lists.resourceTemplates.push({ name: 't', uriTemplate: 'note://{x}' });
    await servers[name].tell(idOf(name), changed('prompts'));
    await get.until(2);
    expect(get.methods()).toEqual([changed('resources'), changed('prompts')]);
    await servers[name].tell(idOf(name), changed('tools'));
    await new Promise(resolve => setTimeout(resolve, 600));
    expect(get.methods()).toHaveLength(2);
  });
});

describe('a listener', () => {
  it('[MCP-4] is acknowledged first, under its id, with what it subscribed to, and gets nothing else', async () => {
    const tools = keep(
      await openListen(
        portico,
        { toolsListChanged: true, promptsListChanged: false },
        {},
        { id: 'one' },
      ),
    );
    const prompts = keep(await openListen(portico, { promptsListChanged: true }, {}, { id: 2 }));
    expect(tools.messages()[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        _meta: { 'io.modelcontextprotocol/subscriptionId': 'one' },
        notifications: { toolsListChanged: true },
      },
    });
    await addTool('old', 'for-listeners');
    await tools.until(2);
    expect(tools.messages()[1]).toEqual({
      jsonrpc: '2.0',
      method: changed('tools'),
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 'one' } },
    });
    servers.new.lists.prompts.push({ name: 'for-listeners' });
    await servers.new.tell(idOf('new'), changed('prompts'));
    await prompts.until(2);
    expect(prompts.messages()[1]?.params?._meta).toEqual({
      'io.modelcontextprotocol/subscriptionId': 2,
    });
    expect([tools.messages().length, prompts.messages().length]).toEqual([2, 2]);
    expect(tools.events.every(({ id }) => id === undefined)).toBe(true);
  });

  it.each([
    undefined,
    null,
    'all',
    [],
    { toolsListChanged: 'yes' },
    { resourceSubscriptions: 'note://a' },
    { resourceSubscriptions: [`note://${'a'.repeat(8_186)}`] },
    { taskIds: ['t'.repeat(32_769)] },
  ])('[MCP-4] requires a filter, and %j is refused', async notifications => {
    const { message, headers } = modern('subscriptions/listen', { notifications });
    const response = await portico.post(message, { headers });
    expect((await response.json<RpcAnswer>()).error?.code).toBe(-32602);
  });

  it('[MCP-4] ends with a result if its server is deleted, and the others learn that its tools are gone', async () => {
    const gone = new TellingServer('legacy');
    fakeUpstreams({ 'https://gone.example.com': gone.handle });
    const { id } = await registerConnected(portico, 'gone');
    await whenQuiet(id);
    const quick = createPortico({ PORTICO_KEEP_ALIVE_MS: '100' });
    const one = keep(await openListen(quick, ALL, {}, { id: 7, path: '/mcp/servers/gone' }));
    const all = keep(await openListen(portico, ALL));
    expect((await portico.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
    await all.until(4);
    expect(all.methods().slice(1)).toEqual([
      changed('tools'),
      changed('resources'),
      changed('prompts'),
    ]);
    await vi.waitFor(() => expect(one.ended()).toBe(true), PATIENT);
    expect(one.messages().at(-1)).toMatchObject({
      id: 7,
      result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } },
    });
  });

  it('[MCP-4] that leaves has no row and no record left', async () => {
    const { token } = await createToken(portico);
    const listen = await openListen(portico, ALL, { token });
    const query =
      "SELECT owner FROM open_streams WHERE owner LIKE 'listen:%' AND owner <> 'listen:setup-admin' ORDER BY opened_at";
    const rows = async () =>
      (await env.DB.prepare(query).all<{ owner: string }>()).results.map(({ owner }) => owner);
    const owner = (await rows()).at(-1) ?? '';
    await listen.close();
    await vi.waitFor(async () => expect(await rows()).not.toContain(owner), PATIENT);
    const left = await runInDurableObject(
      env.CLIENT_SESSION.getByName(owner),
      (_object, { storage }) => storage.list({ prefix: 'stream/' }),
    );
    expect(left.size).toBe(0);
  });
});

describe('visibility', () => {
  it('[MCP-4] [MCP-9] applies to streams: they get nothing of hidden servers', async () => {
    const narrow = await createToken(portico, { servers: ['new'] });
    const session = await initialize(portico, { token: narrow.token });
    const get = keep(await openGet(portico, session, { token: narrow.token }));
    const listen = keep(await openListen(portico, ALL, { token: narrow.token }));
    const path = '/mcp/servers/new';
    const single = keep(
      await openGet(portico, await initialize(portico, {}, path), { token: ADMIN, path }),
    );
    const wide = keep(await openListen(portico, ALL));
    await addTool('old', 'hidden-tool');
    await wide.until(2);
    await addTool('new', 'seen-tool');
    await Promise.all([get.until(1), listen.until(2), single.until(1), wide.until(3)]);
    expect([get.messages().length, listen.messages().length, single.messages().length]).toEqual([
      1, 2, 1,
    ]);
    expect(JSON.stringify([get.events, listen.events, single.events])).not.toContain(idOf('old'));
  });
});

describe('many streams', () => {
  it('[MCP-4] [MCP-10] [MCP-11] a hundred of each era get every change in order, from objects that had lost their memory', async () => {
    const crowded = createPortico({ PORTICO_PRINCIPAL_STREAMS: '200' });
    const gets = await Promise.all(
      Array.from({ length: 100 }, async () =>
        keep(await openGet(crowded, await initialize(crowded), { token: ADMIN })),
      ),
    );
    const listens = await Promise.all(
      Array.from({ length: 100 }, async (_, i) =>
        keep(await openListen(crowded, ALL, {}, { id: i })),
      ),
    );
    const { results } = await env.DB.prepare('SELECT owner FROM open_streams').all<{
      owner: string;
    }>();
    const objects = results.map(({ owner }) => env.CLIENT_SESSION.getByName(owner));
    const marked = (object: (typeof objects)[number]) =>
      runInDurableObject(object, instance => {
        const seen = 'mark' in instance;
        Object.assign(instance, { mark: true });
        return seen;
      });
    for (const round of [1, 2]) {
      await Promise.all(objects.map(marked));
      await Promise.all(objects.map(object => evictDurableObject(object)));
      // Memory is lost; a second check would find the mark if nothing had been evicted.
      const [first] = objects;
      expect(first && (await marked(first))).toBe(false);
      expect(first && (await marked(first))).toBe(true);
      await renew('old');
      servers.old.lists.tools.push({ name: `many-${round}`, inputSchema: { type: 'object' } });
      servers.old.lists.prompts.push({ name: `many-${round}` });
      await servers.old.tell(idOf('old'), changed('tools'));
      await Promise.all([
        ...gets.map(stream => stream.until(2 * round)),
        ...listens.map(stream => stream.until(1 + 2 * round)),
      ]);
    }
    const wanted = [changed('tools'), changed('prompts'), changed('tools'), changed('prompts')];
    for (const stream of gets) expect(stream.methods()).toEqual(wanted);
    for (const stream of listens) expect(stream.methods().slice(1)).toEqual(wanted);
  });
});
