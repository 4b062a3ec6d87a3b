/** One list of a server that fails: the others are served, its former contents stay, and it is reported and discovered again. */
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { call, decide, listApprovals, listTools, look } from '../support/approvals.ts';
import { FakeServer, resultOf, serve, toolOf, type SeenPost } from '../support/fake-server.ts';
import { readShown } from '../support/health.ts';
import {
  ask,
  createPortico,
  monitorOf,
  PATIENT,
  register,
  registerConnected,
  SERVERS,
  whenServer,
  type RpcAnswer,
  type ServerView,
} from '../support/portico.ts';

const portico = createPortico();

const LISTS = {
  'tools/list': { tools: [toolOf('echo')] },
  'resources/list': { resources: [{ uri: 'test://one', name: 'one' }] },
  'resources/templates/list': {
    resourceTemplates: [{ uriTemplate: 'test://{id}', name: 'any' }],
  },
  'prompts/list': { prompts: [{ name: 'greet' }] },
};
type List = keyof typeof LISTS;
const METHODS = Object.keys(LISTS) as List[];
const MODERN_MEMBERS = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** A server with one item of each kind. */
function createServer(era: 'legacy' | 'modern' = 'legacy'): FakeServer {
  const server = new FakeServer({ era, capabilities: { resources: {}, prompts: {} } });
  for (const method of METHODS) serveList(server, method);
  return server;
}

const serveList = (server: FakeServer, method: List, list: object = LISTS[method]) =>
  server.answers.set(method, post => resultOf(post, { ...MODERN_MEMBERS, ...list }));

const refusal = (code: number, message: string) => (post: SeenPost) =>
  Response.json({ jsonrpc: '2.0', id: post.id, error: { code, message } });

const isDegraded = ({ status }: ServerView) => status === 'DEGRADED';

/** How many items a fresh isolate lists of each kind, at the server's own endpoint. */
async function countLists(name: string): Promise<Record<string, number>> {
  const at = createPortico();
  const counts = METHODS.map(async method => {
    const { message, headers } = ask('legacy', method);
    const response = await at.post(message, { headers }, `/mcp/servers/${name}`);
    const { result = {} } = await response.json<RpcAnswer>();
    const items = Object.values(result).find(Array.isArray) as unknown[] | undefined;
    return [method, items?.length ?? -1] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

const all = Object.fromEntries(METHODS.map(method => [method, 1]));

describe('a failing list', () => {
  it.each(
    (['legacy', 'modern'] as const).flatMap(era => METHODS.map(method => [era, method] as const)),
  )('[MCP-12] [REG-4] at first (%s, %s) is all that is missing', async (era, method) => {
    const name = `half-${era}-${method.replaceAll('/', '-')}`;
    const server = createServer(era);
    server.answers.set(method, refusal(-32603, 'connect ECONNREFUSED db:5432'));
    serve({ [name]: server });
    const { id } = await register(portico, name);
    await whenServer(portico, id, isDegraded);
    const { last_error: reason, health } = await readShown(portico, id);
    expect(reason).toBe(
      `upstream_4xx: Its ${WORDS[method]} cannot be listed: The server refused (-32603: connect ECONNREFUSED db:5432)`,
    );
    expect(health).toMatchObject({ state: 'degraded', reason: 'upstream_4xx' });
    expect(health.consecutive_failures).toBe(0);
    expect(await countLists(name)).toEqual({ ...all, [method]: 0 });
    serveList(server, method);
    // Without a wake: it is discovered again soon by itself.
    await vi.waitFor(async () => {
      const { status, last_error: now } = await readShown(portico, id);
      expect([status, now]).toEqual(['CONNECTED', null]);
    }, PATIENT);
    expect(await countLists(name)).toEqual(all);
  });

  it.each(METHODS)('[MCP-12] later (%s) keeps what it had', async method => {
    const name = `later-${method.replaceAll('/', '-')}`;
    const server = createServer();
    serve({ [name]: server });
    const { id } = await registerConnected(portico, name);
    server.answers.set(method, () => new Response('no', { status: 500 }));
    expect(await look(portico, id)).toMatchObject({
      status: 'DEGRADED',
      tool_count: 1,
      last_error: `upstream_5xx: Its ${WORDS[method]} cannot be listed: The server answered 500`,
    });
    expect(await countLists(name)).toEqual(all);
    const { result } = await call('legacy', `${name}.echo`);
    expect(result?.isError ?? false).toBe(false);
    // Another cycle without news reports the same.
    expect(await look(portico, id)).toMatchObject({ status: 'DEGRADED', tool_count: 1 });
    serveList(server, method);
    expect(await look(portico, id)).toMatchObject({ status: 'CONNECTED', last_error: null });
  });

  it('[MCP-12] [UP-5] is discovered again after growing pauses', async () => {
    const server = createServer();
    server.answers.set('prompts/list', refusal(-32603, 'no'));
    serve({ again: server });
    const { id } = await register(portico, 'again');
    await whenServer(portico, id, isDegraded);
    const pauses: number[] = [];
    for (let times = 0; times < 9; times += 1) {
      await look(portico, id);
      // A discovery due at the time of the alarm is not stored beside it.
      const lookAt = await runInDurableObject(
        monitorOf(id),
        async (_, { storage }) =>
          (await storage.get<{ lookAt?: number }>('schedule'))?.lookAt ??
          (await storage.getAlarm()),
      );
      pauses.push((lookAt ?? 0) - Date.now());
    }
    // From a second to the interval of half a minute, of which jitter subtracts half at most.
    expect(pauses.at(-1)).toBeGreaterThan(10_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
    expect(Math.min(...pauses)).toBeLessThan(10_000);
  });

  it('[SEC-7] of tools admits nothing that is rejected meanwhile, and forgets no approval', async () => {
    const server = createServer();
    serveList(server, 'tools/list', { tools: [toolOf('echo'), toolOf('other')] });
    serve({ rejected: server });
    const { id } = await registerConnected(portico, 'rejected');
    serveList(server, 'tools/list', {
      tools: [toolOf('echo'), toolOf('other'), toolOf('new')],
    });
    expect(await look(portico, id)).toMatchObject({ tool_count: 2, held_tools: 1 });
    server.answers.set('tools/list', refusal(-32603, 'no'));
    expect(await look(portico, id)).toMatchObject({ tool_count: 2, held_tools: 1 });
    const { approvals } = await listApprovals(portico, id, 'approved');
    const items = approvals
      .filter(({ name }) => name === 'other')
      .map(({ server_id, kind, name, approved_fingerprint: fingerprint }) => ({
        server_id,
        kind,
        name,
        fingerprint,
      }));
    expect(await decide(portico, 'reject', { items })).toMatchObject({ decided: 1 });
    expect(await look(portico, id)).toMatchObject({ status: 'DEGRADED', tool_count: 1 });
    expect(await listTools('rejected')).toEqual(['echo']);
  });

  it('[MCP-12] does not keep items of a server that is now reached in another way', async () => {
    const server = createServer();
    const other = createServer();
    serve({ moving: server, moved: other });
    const { id } = await registerConnected(portico, 'moving');
    other.answers.set('prompts/list', refusal(-32603, 'no'));
    const connection_config = { url: 'https://moved.example.com/mcp' };
    await portico.api('PATCH', `${SERVERS}/${id}`, { connection_config });
    await whenServer(portico, id, isDegraded);
    expect(await countLists('moving')).toEqual({ ...all, 'prompts/list': 0 });
  });

  it('[SEC-2] reports why, without the credential that was sent', async () => {
    const server = createServer();
    const secret = 'canary-0123456789';
    server.answers.set('prompts/list', refusal(-32603, `bad key\n${secret} ${'x'.repeat(900)}`));
    serve({ telltale: server });
    const { id } = await register(portico, 'telltale', {
      connection_config: {
        url: 'https://telltale.example.com/mcp',
        headers: { 'x-key': secret },
      },
    });
    const { last_error: reason } = await whenServer(portico, id, isDegraded);
    expect(reason).toContain('(-32603: bad key [redacted] xxx');
    expect(reason).not.toContain(secret);
    expect(reason?.length).toBeLessThan(400);
  });

  it('[REG-4] together with all the others makes the server ERROR', async () => {
    const server = createServer();
    for (const method of METHODS) server.answers.set(method, refusal(-32603, 'no'));
    serve({ nothing: server });
    const { id } = await register(portico, 'nothing');
    const { last_error: reason } = await whenServer(
      portico,
      id,
      ({ status }) => status === 'ERROR',
    );
    expect(reason).toBe('upstream_4xx: The server refused (-32603: no)');
  });
});

it('[REG-2] [SEC-2] a server that refuses to initialize has the reason, without the credential that was sent', async () => {
  const server = new FakeServer();
  const key = 'canary-0123456789';
  server.outage = async request => {
    const { id } = await request.json<{ id: unknown }>();
    const error = { code: -32603, message: `no licence for ${key}` };
    return Response.json({ jsonrpc: '2.0', id, error });
  };
  serve({ refusing: server });
  const connection_config = {
    url: 'https://refusing.example.com/mcp',
    headers: { 'x-key': key },
  };
  const { id } = await register(portico, 'refusing', { connection_config });
  const record = await whenServer(portico, id, ({ status }) => status === 'ERROR');
  expect(record.last_error).toBe(
    'upstream_4xx: The server refused to initialize (-32603: no licence for [redacted])',
  );
});

const WORDS: Record<List, string> = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resource templates',
  'prompts/list': 'prompts',
};
