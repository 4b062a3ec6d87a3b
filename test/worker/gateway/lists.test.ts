/** Lists come from the catalog: 1,000 tools over 10 servers, without a request to an upstream or an object. */
import { env } from 'cloudflare:workers';
import { listDurableObjectIds } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  initialize,
  inSession,
  legacy,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';

const SERVERS = 10;
const TOOLS = 100;

/** A namespace that notes each call on it. */
function counting<T extends object>(namespace: T, touched: string[]): T {
  return new Proxy(namespace, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        touched.push(String(member));
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

/** All requests to upstreams. */
let requests: string[] = [];

/** Ten servers after discovery. */
beforeAll(async () => {
  const servers = Array.from({ length: SERVERS }, (_, s) => {
    const tools = Array.from({ length: TOOLS }, (_unused, t) =>
      toolOf(`tool-${t}`, { description: `${t} of ${s}` }),
    );
    return [
      `server-${s}`,
      new FakeServer({ era: s % 2 === 0 ? 'legacy' : 'modern', tools, pageSize: 40 }),
    ] as const;
  });
  requests = serve(Object.fromEntries(servers));
  const builder = createPortico();
  await Promise.all(servers.map(([name]) => registerConnected(builder, name)));
  await builder.settle();
  requests.length = 0;
});

/** An isolate that has not seen them yet, and its requests to objects and KV. */
function createIsolate() {
  const touched: string[] = [];
  const reads: string[] = [];
  const portico = createPortico({
    CATALOG: counting(env.CATALOG, reads),
    CLIENT_SESSION: counting(env.CLIENT_SESSION, touched),
    SERVER_MONITOR: counting(env.SERVER_MONITOR, touched),
  });
  return { portico, touched, reads };
}

describe('tools/list', () => {
  it('[MCP-3] [REG-5] [UP-5] of 1,000 tools asks no upstream and no object, in both eras', async () => {
    const { portico, touched } = createIsolate();
    const objects = (await listDurableObjectIds(env.CLIENT_SESSION)).length;
    const session = await initialize(portico);
    const asked = [
      { ...ask('legacy', 'tools/list'), path: '/mcp' },
      { message: legacy('tools/list'), headers: inSession(session), path: '/mcp' },
      { ...ask('modern', 'tools/list'), path: '/mcp' },
      { ...ask('modern', 'tools/list'), path: '/mcp?names=underscore' },
      { ...ask('legacy', 'tools/list'), path: '/mcp?names=colon' },
    ];
    for (const { message, headers, path } of asked) {
      const response = await portico.post(message, { headers }, path);
      const { result } = await response.json<RpcAnswer>();
      expect(result?.tools).toHaveLength(SERVERS * TOOLS);
      expect(new Set(result?.tools?.map(({ name }) => name)).size).toBe(SERVERS * TOOLS);
      expect(result).not.toHaveProperty('nextCursor');
    }
    for (const era of ['legacy', 'modern'] as const) {
      const { message, headers } = ask(era, 'tools/list');
      const response = await portico.post(message, { headers }, '/mcp/servers/server-3');
      expect((await response.json<RpcAnswer>()).result?.tools).toHaveLength(TOOLS);
    }
    expect((await portico.api('GET', '/api/v1/tools')).status).toBe(200);
    await portico.settle();
    expect(requests).toEqual([]);
    expect(touched).toEqual([]);
    expect((await listDurableObjectIds(env.CLIENT_SESSION)).length).toBe(objects);
  });

  it('[FIND-2] is not made for a search in the form of a host that finds nothing', async () => {
    const { portico, reads } = createIsolate();
    const body = { query: '7 of 3', server_filter: ['nobody'] };
    const response = await portico.api('POST', '/api/v1/search?format=anthropic', body);
    expect(await response.json()).toEqual({ content: [], tools: [] });
    expect(reads).toEqual([]);
  });

  it('[EDGE-3] [FIND-1] reads the catalogs of all servers at once, their index at once, and then nothing', async () => {
    const { portico, reads } = createIsolate();
    const list = async () => {
      const { message, headers } = ask('modern', 'tools/list');
      const { result } = await (await portico.post(message, { headers })).json<RpcAnswer>();
      expect(result?.tools).toHaveLength(SERVERS * TOOLS);
    };
    const search = async () => {
      const response = await portico.api('POST', '/api/v1/search', { query: '7 of 3', limit: 3 });
      expect(await response.json()).toMatchObject({
        tools: [{}, {}, {}],
        metadata: { total_tools_searched: SERVERS * TOOLS },
      });
    };
    await list();
    expect(reads.splice(0)).toEqual(['get']);
    await search();
    expect(reads.splice(0)).toEqual(['get']);
    await list();
    await search();
    expect(reads).toEqual([]);
  });

  it('[MCP-3] a request to an object or an upstream would be noticed', async () => {
    const touched: string[] = [];
    counting(env.CLIENT_SESSION, touched).idFromName('x');
    expect(touched).toEqual(['idFromName']);
    const seen = serve({ seen: new FakeServer() });
    await fetch('https://seen.example.com/mcp');
    expect(seen).toEqual(['GET https://seen.example.com/mcp']);
  });

  it('[MCP-3] [MCP-4] has the members that each era requires', async () => {
    const { message, headers } = ask('modern', 'tools/list');
    const portico = createPortico();
    const { result } = await (await portico.post(message, { headers })).json<RpcAnswer>();
    expect(result).toMatchObject({
      resultType: 'complete',
      cacheScope: 'private',
      ttlMs: expect.any(Number) as unknown,
    });
    const old = await (await portico.post(legacy('tools/list'))).json<RpcAnswer>();
    expect(Object.keys(old.result ?? {})).toEqual(['tools']);
  });

  it('[MCP-4] refuses a foreign cursor', async () => {
    const portico = createPortico();
    for (const era of ['legacy', 'modern'] as const) {
      for (const cursor of ['x', 7]) {
        const { message, headers } = ask(era, 'tools/list', { cursor });
        const response = await portico.post(message, { headers });
        expect((await response.json<RpcAnswer>()).error?.code).toBe(-32602);
      }
    }
  });
});
