/** What a modern server advertises, read again by each discovery of its monitor: another version of it may be installed meanwhile. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDeadline, type Deadline } from '../../../src/http/deadline.ts';
import type { KnownUpstream } from '../../../src/upstream/discovery/known-upstream.ts';
import { UpstreamWatch } from '../../../src/upstream/discovery/watch.ts';
import { endpoint } from './a-destination.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const LISTS: Record<string, object> = {
  'tools/list': { tools: [] },
  'prompts/list': { prompts: [{ name: 'greet' }] },
};
const TOOLS = { tools: { listChanged: true } };
const PROMPTS = { ...TOOLS, prompts: { listChanged: true } };

/** A modern server, and the monitor's connection to it. */
function createServer() {
  const server = {
    /** The result of `server/discover`, or its error. */
    advertised: { capabilities: TOOLS } as object,
    asked: [] as string[],
    /** What each stream was opened for. */
    streams: [] as object[],
    kept: [] as KnownUpstream[],
  };
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method, params } = JSON.parse(String(init.body)) as {
      id: unknown;
      method: string;
      params: { notifications: object };
    };
    server.asked.push(method);
    if (method === 'subscriptions/listen') {
      server.streams.push(params.notifications);
      const headers = { 'content-type': 'text/event-stream' };
      return new Response(new ReadableStream<Uint8Array>(), { headers });
    }
    const rpc = (more: object) => Response.json({ jsonrpc: '2.0', id, ...more });
    const { advertised } = server;
    if (method !== 'server/discover') return rpc({ result: LISTS[method] ?? {} });
    return 'error' in advertised
      ? rpc(advertised)
      : rpc({ result: { supportedVersions: ['2026-07-28'], ...advertised } });
  });
  const watching = new UpstreamWatch(endpoint, {
    transport: 'http',
    maxBytes: 1e6,
    onEvent() {},
    onUpdated() {},
    uris: async () => [],
    wantsLists: true,
    memory: {
      find: async () => undefined,
      keep: async known => void server.kept.push(known),
      drop: async () => {},
    },
  });
  const within = async <T>(work: (deadline: Deadline) => Promise<T>) => {
    const deadline = createDeadline(60_000);
    return work(deadline).finally(() => deadline.release());
  };
  /** A discovery of a later cycle. */
  const discover = () => {
    vi.setSystemTime(Date.now() + 60_000);
    return within(deadline => watching.discover(deadline));
  };
  const cycle = async () => {
    vi.setSystemTime(Date.now() + 60_000);
    await within(deadline => watching.ping(deadline));
    return within(deadline => watching.discover(deadline));
  };
  return { server, discover, cycle, close: () => watching.close() };
}

it('[REG-5] [UP-1] brings a new kind of items and other instructions, and is stored', async () => {
  const { server, discover, close } = createServer();
  expect((await discover()).items.prompts).toEqual([]);
  server.advertised = { capabilities: PROMPTS, instructions: 'Greet first.' };
  const { items, instructions, capabilities } = await discover();
  expect(items.prompts).toEqual(['{"name":"greet"}']);
  expect({ instructions, capabilities }).toEqual({
    instructions: 'Greet first.',
    capabilities: PROMPTS,
  });
  expect(server.kept.at(-1)?.negotiated.capabilities).toEqual(PROMPTS);
  expect(server.streams).toEqual([
    { toolsListChanged: true },
    { toolsListChanged: true, promptsListChanged: true },
  ]);
  server.advertised = { capabilities: TOOLS };
  const after = await discover();
  expect([after.items.prompts, after.instructions]).toEqual([[], undefined]);
  close();
});

it('[REG-5] is asked for once in each cycle, and writes nothing if it is the same', async () => {
  const { server, discover, cycle, close } = createServer();
  const times = () => server.asked.filter(method => method === 'server/discover').length;
  await discover();
  expect(times()).toBe(1);
  await cycle();
  expect(times()).toBe(2);
  expect(server.kept).toHaveLength(1);
  expect(server.streams).toHaveLength(1);
  close();
});

it('[MCP-12] [UP-1] stays as it was while the server fails to say it, and ends with the modern era', async () => {
  const { server, discover, close } = createServer();
  server.advertised = { capabilities: PROMPTS };
  await discover();
  server.advertised = { error: { code: -32603, message: 'busy' } };
  expect((await discover()).items.prompts).toHaveLength(1);
  server.advertised = { supportedVersions: ['2027-01-01'], capabilities: PROMPTS };
  server.asked.length = 0;
  await expect(discover()).rejects.toMatchObject({ code: expect.stringMatching(/^upstream_/u) });
  expect(server.asked).toContain('initialize');
  close();
});

it('[REG-5] brings other instructions at once after other kinds of items, then only now and then', async () => {
  const { server, discover, close } = createServer();
  await discover();
  server.advertised = { capabilities: PROMPTS };
  await discover();
  server.advertised = { capabilities: PROMPTS, instructions: 'Greet first.' };
  expect((await discover()).instructions).toBe('Greet first.');
  server.advertised = { capabilities: PROMPTS, instructions: 'It is noon.' };
  expect((await discover()).instructions).toBe('Greet first.');
  for (let minutes = 0; minutes < 10; minutes += 1) await discover();
  expect((await discover()).instructions).toBe('It is noon.');
  close();
});
