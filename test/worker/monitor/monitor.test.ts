/** ServerMonitor: what discovery finds and leaves out, how silence is handled, and how changes are noticed. */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { look } from '../support/approvals.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { failTimes, readShown } from '../support/health.ts';
import {
  PATIENT,
  SERVERS,
  TRUSTED,
  createPortico,
  legacy,
  monitorOf,
  register,
  registerConnected,
  storedCatalogs,
  whenServer,
  whenSorted,
  type Portico,
  type RpcAnswer,
  whenQuiet,
} from '../support/portico.ts';

const portico = createPortico();

/** The tools of a server's own endpoint, as a fresh isolate lists them. */
async function listTools(server: string, at: Portico = createPortico()): Promise<string[]> {
  const response = await at.post(legacy('tools/list'), {}, `/mcp/servers/${server}`);
  expect(response.status).toBe(200);
  return (await response.json<RpcAnswer>()).result?.tools?.map(({ name }) => name) ?? [];
}

const toolsOf = (count: number) => Array.from({ length: count }, (_, i) => toolOf(`tool-${i}`));

describe('discovery', () => {
  it.each(['legacy', 'modern'] as const)(
    '[REG-5] [UP-1] follows the pages of a %s server',
    async era => {
      const server = new FakeServer({ era, tools: toolsOf(25), pageSize: 10 });
      serve({ [`paged-${era}`]: server });
      const record = await registerConnected(portico, `paged-${era}`);
      expect(record).toMatchObject({ status: 'CONNECTED', tool_count: 25, era, last_error: null });
      // A server with sessions is also discovered as other clients.
      const pages = Object.values(
        Object.groupBy(server.of('tools/list'), post => `${post.session}`),
      );
      expect(pages.map(posts => posts?.map(({ params }) => params['cursor']))).toEqual(
        Array.from({ length: era === 'legacy' ? 2 : 1 }, () => [undefined, '10', '20']),
      );
      expect(await listTools(`paged-${era}`)).toEqual(toolsOf(25).map(({ name }) => name));
    },
  );

  it('[REG-5] [MCP-7] keeps what a server wrote, byte for byte', async () => {
    const server = new FakeServer();
    const tool =
      '{"name":"raw", "inputSchema":{"type":"object","maximum":1.0,"x":12345678901234567890}, "vendor":"\\u00e9\\/"}';
    server.outage = async request => {
      const body = await request.clone().text();
      if (!body.includes('tools/list')) {
        const { outage } = server;
        server.outage = undefined;
        return server.handle(request).finally(() => (server.outage = outage));
      }
      const { id } = JSON.parse(body) as { id: number };
      return new Response(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[${tool}]}}`, {
        headers: { 'content-type': 'application/json' },
      });
    };
    serve({ raw: server });
    await registerConnected(portico, 'raw');
    const text = await (await portico.post(legacy('tools/list'), {}, '/mcp/servers/raw')).text();
    expect(text).toContain('{"type":"object","maximum":1.0,"x":12345678901234567890}');
    expect(text).toContain('"\\u00e9\\/"');
  });

  it('[REG-5] [MCP-12] leaves invalid tools out and names the first', async () => {
    const deep = '{"properties":{"a":'.repeat(1_500) + '{}' + '}}'.repeat(1_500);
    const tools = [
      toolOf('good'),
      { name: 'no-schema' },
      { inputSchema: { type: 'object' } },
      'text',
      null,
      toolOf(''),
      toolOf('good'),
      {
        ...toolOf('deep'),
        inputSchema: { type: 'object', properties: { a: JSON.parse(deep) as object } },
      },
      toolOf('fine'),
    ];
    serve({ partly: new FakeServer({ tools }) });
    const record = await registerConnected(portico, 'partly');
    expect(record).toMatchObject({
      tool_count: 2,
      last_error: '7 invalid items were left out ("no-schema": invalid at "inputSchema")',
    });
    expect(await listTools('partly')).toEqual(['good', 'fine']);
  });

  it('[SEC-4] does not follow pages that lead back to themselves', async () => {
    const server = new FakeServer({ tools: toolsOf(3) });
    const handle = server.handle;
    server.outage = async request => {
      server.outage = undefined;
      const response = await handle(request.clone()).finally(() => (server.outage = outage));
      if (server.posts.at(-1)?.method !== 'tools/list') return response;
      const { result, ...rest } = await response.json<{ result: object }>();
      return Response.json({ ...rest, result: { ...result, nextCursor: 'again' } });
    };
    const { outage } = server;
    serve({ looping: server });
    expect(await registerConnected(portico, 'looping')).toMatchObject({ tool_count: 3 });
    const looks = server.of('initialize').length;
    expect(server.of('tools/list').length).toBeLessThanOrEqual(3 * looks);
  });

  it('[REG-5] writes nothing if nothing has changed', async () => {
    serve({ same: new FakeServer() });
    const { id } = await registerConnected(portico, 'same');
    await whenSorted(id);
    await whenQuiet(id);
    const read = () => env.DB.prepare('SELECT * FROM servers WHERE id = ?').bind(id).first();
    const before = await read();
    expect(await runDurableObjectAlarm(monitorOf(id))).toBe(true);
    expect(await read()).toEqual(before);
  });

  it('[REG-5] keeps the last two catalogs of a server and no more', async () => {
    const server = new FakeServer();
    serve({ changing: server });
    const { id } = await registerConnected(portico, 'changing', TRUSTED);
    for (let version = 1; version <= 4; version += 1) {
      server.tools = toolsOf(version);
      expect((await look(portico, id)).tool_count).toBe(version);
    }
    // The row names the last catalog before the one before it is deleted.
    await whenQuiet(id);
    const { catalogs, segments } = await storedCatalogs(id);
    expect(catalogs.length).toBeLessThanOrEqual(2);
    // Each with its segment of the search index.
    expect(segments.map(name => name.slice(0, name.lastIndexOf('/')))).toEqual(catalogs);
    expect(await listTools('changing')).toHaveLength(4);
  });
});

describe('a change', () => {
  it.each(['legacy', 'modern'] as const)(
    '[REG-5] announced by a %s server on its stream leads to a new catalog',
    async era => {
      const server = new FakeServer({ era, listChanged: true });
      const name = `telling-${era}`;
      serve({ [name]: server });
      const { id } = await registerConnected(portico, name, TRUSTED);
      expect(server.isHeard).toBe(true);
      server.tools = toolsOf(3);
      await runInDurableObject(monitorOf(id), () =>
        server.tell('notifications/tools/list_changed'),
      );
      await vi.waitFor(async () => {
        const record = await (await portico.api('GET', `${SERVERS}/${id}`)).json();
        expect(record).toMatchObject({ tool_count: 3 });
      }, PATIENT);
      expect(await listTools(name)).toEqual(['tool-0', 'tool-1', 'tool-2']);
    },
  );
});

describe('a failing server', () => {
  it('[AG-US5-AC4] [MCP-12] becomes ERROR after three failures, keeps its tools, and recovers', async () => {
    const server = new FakeServer({ sessionful: false });
    serve({ sick: server });
    const { id } = await registerConnected(portico, 'sick');
    server.outage = () => new Response('no', { status: 503 });
    for (const [failures, [status]] of await failTimes(portico, id, 3)) {
      expect([failures, status]).toEqual([failures, failures < 3 ? 'CONNECTED' : 'ERROR']);
    }
    const record = await readShown(portico, id);
    expect(record.last_error).toBe('upstream_5xx: The server answered 503');
    expect(await listTools('sick')).toEqual(['echo']);
    server.outage = undefined;
    expect(await whenServer(portico, id, ({ status }) => status === 'CONNECTED')).toMatchObject({
      last_error: null,
    });
  });

  it.each<[string, () => Response | Promise<Response>, string]>([
    [
      'cannot be reached',
      () => Promise.reject(new TypeError('connect ECONNREFUSED 10.0.0.7:443')),
      'upstream_unreachable',
    ],
    [
      'redirects',
      () => new Response(null, { status: 307, headers: { location: 'http://127.0.0.1:9/' } }),
      'upstream_redirect',
    ],
    ['fails', () => new Response('Traceback: secret', { status: 500 }), 'upstream_5xx'],
  ])(
    '[AG-US5-AC4] [SEC-2] never answered, since it %s: ERROR at once, in one line without an address',
    async (what, outage, code) => {
      const name = `never-${what.replaceAll(/\W/g, '-')}`;
      const server = new FakeServer();
      server.outage = outage;
      const requests = serve({ [name]: server });
      const { id } = await register(portico, name);
      const record = await whenServer(portico, id, ({ status }) => status === 'ERROR');
      expect(record.last_error).toMatch(new RegExp(`^${code}: [^\\n]+$`));
      expect(record.last_error).not.toMatch(/https?:|10\.0\.0\.7|secret/);
      expect(requests.every(request => request.endsWith(`https://${name}.example.com/mcp`))).toBe(
        true,
      );
    },
  );

  it('[UP-5] is checked again by itself', async () => {
    const server = new FakeServer();
    server.outage = () => new Response('no', { status: 503 });
    serve({ returning: server });
    const { id } = await register(portico, 'returning');
    await whenServer(portico, id, ({ status }) => status === 'ERROR');
    await vi.waitFor(async () => {
      const alarm = await runInDurableObject(monitorOf(id), (_object, { storage }) =>
        storage.getAlarm(),
      );
      expect(alarm ?? Infinity).toBeLessThan(Date.now() + 31_000);
    }, PATIENT);
    server.outage = undefined;
    await vi.waitFor(async () => {
      const record = await (await portico.api('GET', `${SERVERS}/${id}`)).json();
      expect(record).toMatchObject({ status: 'CONNECTED' });
    }, PATIENT);
  });
});

describe('a catalog', () => {
  it('[REG-5] that KV lost is written again for the request that needs it', async () => {
    serve({ lost: new FakeServer({ tools: toolsOf(2) }) });
    const { id } = await registerConnected(portico, 'lost');
    for (const { name } of (await env.CATALOG.list({ prefix: `catalog/${id}/` })).keys)
      await env.CATALOG.delete(name);
    expect(await listTools('lost')).toEqual(['tool-0', 'tool-1']);
    expect((await storedCatalogs(id)).catalogs).toHaveLength(1);
  });

  it('[MCP-12] that exists nowhere any more does not hide the others, and is not missing for ever', async () => {
    const server = new FakeServer();
    serve({ missing: server, present: new FakeServer() });
    const { id } = await registerConnected(portico, 'missing');
    await registerConnected(portico, 'present');
    for (const { name } of (await env.CATALOG.list({ prefix: `catalog/${id}/` })).keys)
      await env.CATALOG.delete(name);
    server.outage = () => new Response('no', { status: 503 });
    const at = createPortico();
    const list = async () =>
      (await (await at.post(legacy('tools/list'))).json<RpcAnswer>()).result?.tools?.map(
        ({ name }) => name,
      ) ?? [];
    const without = await list();
    expect(without).toContain('present.echo');
    expect(without).not.toContain('missing.echo');
    server.outage = undefined;
    expect(await list()).toEqual(expect.arrayContaining(['present.echo', 'missing.echo']));
  });
});

describe('eviction', () => {
  it('[REG-5] is followed by a monitor that checks again', async () => {
    const server = new FakeServer();
    serve({ evicted: server });
    const { id } = await registerConnected(portico, 'evicted', TRUSTED);
    await evictDurableObject(monitorOf(id));
    server.tools = toolsOf(2);
    expect(await whenServer(portico, id, record => record.tool_count === 2)).toMatchObject({
      status: 'CONNECTED',
    });
  });
});
