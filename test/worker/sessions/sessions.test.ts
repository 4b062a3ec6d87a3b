/** Legacy sessions: durable, bound, ended; and the upstream sessions that belong to them. */
import { env } from 'cloudflare:workers';
import { evictAllDurableObjects, listDurableObjectIds } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeServer, serve } from '../support/fake-server.ts';
import { openGet } from '../support/event-streams.ts';
import {
  PATIENT,
  createPortico,
  createToken,
  initialize,
  inSession,
  legacy,
  registerConnected,
  type Portico,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();

afterEach(() => void vi.useRealTimers());

async function callTool(
  at: Portico,
  name: string,
  session?: string,
  token?: string,
): Promise<RpcAnswer> {
  const headers = session === undefined ? {} : inSession(session);
  const response = await at.post(
    legacy('tools/call', { name, arguments: { a: 1 } }),
    token === undefined ? { headers } : { headers, token },
  );
  expect(response.status).toBe(200);
  return response.json();
}

/** Connects a server with its own name. */
async function connect(name: string, options = {}): Promise<FakeServer> {
  const server = new FakeServer(options);
  serve({ [name]: server });
  await registerConnected(portico, name);
  return server;
}

const text = (answer: RpcAnswer) => answer.result?.content?.[0]?.text;

describe('a session', () => {
  it('[MCP-10] survives the eviction of its object and works in another isolate, with the same upstream session', async () => {
    const server = await connect('evicting');
    const session = await initialize(portico);
    const list = await portico.post(legacy('tools/list'), { headers: inSession(session) });
    expect((await list.json<RpcAnswer>()).result?.tools?.map(({ name }) => name)).toContain(
      'evicting.echo',
    );
    expect(text(await callTool(portico, 'evicting.echo', session))).toBe('{"a":1}');
    await evictAllDurableObjects();
    expect(text(await callTool(createPortico(), 'evicting.echo', session))).toBe('{"a":1}');
    const calls = server.of('tools/call');
    expect(calls).toHaveLength(2);
    expect(calls[0]?.session).toMatch(/^upstream-/);
    expect(calls[1]?.session).toBe(calls[0]?.session);
  });

  it('[MCP-10] has its own session at each upstream, shared by no other', async () => {
    const server = await connect('apart');
    const sessions = [await initialize(portico), await initialize(portico)];
    for (const session of [...sessions, ...sessions])
      await callTool(portico, 'apart.echo', session);
    const [first, second, third, fourth] = server.of('tools/call').map(post => post.session);
    expect(first).not.toBe(second);
    expect([third, fourth]).toEqual([first, second]);
  });

  it('[UP-2] opens one upstream session for twenty calls at once', async () => {
    const server = await connect('crowd');
    const before = server.of('initialize').length;
    const session = await initialize(portico);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => callTool(portico, 'crowd.echo', session)),
    );
    for (const answer of answers) expect(text(answer)).toBe('{"a":1}');
    expect(server.of('initialize').length).toBe(before + 1);
    expect(new Set(server.of('tools/call').map(post => post.session)).size).toBe(1);
  });

  it("[SEC-9] beyond a principal's maximum is opened, and the least recently used one ends with all that it has", async () => {
    const server = await connect('surplus');
    const crowded = createPortico({ PORTICO_PRINCIPAL_SESSIONS: '3' });
    const { token } = await createToken(crowded);
    const { token: other } = await createToken(crowded);
    const statusOf = async (session: string, by = token) => {
      const headers = inSession(session);
      return (await crowded.post(legacy('tools/list'), { headers, token: by })).status;
    };
    const [first, ...sessions] = [
      await initialize(crowded, { token }),
      await initialize(crowded, { token }),
      await initialize(crowded, { token }),
    ] as [string, ...string[]];
    const others = await initialize(crowded, { token: other });
    await callTool(crowded, 'surplus.echo', first, token);
    const upstreamSession = server.of('tools/call')[0]?.session;
    const get = await openGet(crowded, first, { token });
    sessions.push(await initialize(crowded, { token }));
    expect(await statusOf(first)).toBe(404);
    for (const session of sessions) expect(await statusOf(session)).toBe(200);
    expect(await statusOf(others, other)).toBe(200);
    await vi.waitFor(() => expect(get.ended()).toBe(true), PATIENT);
    await vi.waitFor(() => expect(server.ended).toContain(upstreamSession), PATIENT);
  });

  it('[MCP-10] ends on DELETE, here and at the upstream', async () => {
    const server = await connect('ending');
    const session = await initialize(portico);
    await callTool(portico, 'ending.echo', session);
    const upstreamSession = server.of('tools/call')[0]?.session;
    const ended = await portico.api('DELETE', '/mcp', undefined, { headers: inSession(session) });
    expect(ended.status).toBe(200);
    await portico.settle();
    // The session of a discovery was ended too.
    expect(server.ended.filter(id => id === upstreamSession)).toHaveLength(1);
    for (const at of [portico, createPortico()]) {
      const response = await at.post(legacy('ping'), { headers: inSession(session) });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ id: 1, error: { code: 4041 } });
    }
    expect(
      (await portico.api('DELETE', '/mcp', undefined, { headers: inSession(session) })).status,
    ).toBe(404);
  });

  it('[MCP-10] is bound: another principal, endpoint or path gets 404', async () => {
    const server = await connect('bound');
    const session = await initialize(portico);
    const ofServer = await initialize(portico, {}, '/mcp/servers/bound');
    const { token } = await createToken(portico);
    const call = legacy('tools/call', { name: 'bound.echo' });
    const own = legacy('tools/call', { name: 'echo' });
    const statuses = [
      await portico.post(call, { token, headers: inSession(session) }),
      await portico.post(own, { headers: inSession(session) }, '/mcp/servers/bound'),
      await portico.post(call, { headers: inSession(ofServer) }),
      await portico.api('DELETE', '/mcp', undefined, { token, headers: inSession(session) }),
      await portico.api('DELETE', '/mcp/servers/bound', undefined, { headers: inSession(session) }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([404, 404, 404, 404, 404]);
    expect(server.of('tools/call')).toEqual([]);
    const alive = await portico.post(own, { headers: inSession(ofServer) }, '/mcp/servers/bound');
    expect(alive.status).toBe(200);
    expect(text(await callTool(portico, 'bound.echo', session))).toBe('{"a":1}');
  });

  it('[MCP-10] loses what its token loses later', async () => {
    const server = await connect('revoked');
    const { id, token } = await createToken(portico);
    const session = await initialize(portico, { token });
    await callTool(portico, 'revoked.echo', session, token);
    await portico.api('DELETE', `/api/v1/tokens/${id}`);
    const response = await portico.post(legacy('tools/call', { name: 'revoked.echo' }), {
      token,
      headers: inSession(session),
    });
    expect(response.status).toBe(401);
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('[MCP-10] expires when unused, and lives as long as it is used', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const idle = createPortico({ PORTICO_SESSION_IDLE_MS: '60000' });
    const ping = async (session: string) =>
      (await idle.post(legacy('ping'), { headers: inSession(session) })).status;
    const used = await initialize(idle);
    const unused = await initialize(idle);
    for (let round = 0; round < 4; round += 1) {
      vi.setSystemTime(Date.now() + 30_000);
      expect(await ping(used)).toBe(200);
      await idle.settle();
    }
    expect(await ping(unused)).toBe(404);
    vi.setSystemTime(Date.now() + 60_001);
    expect(await ping(used)).toBe(404);
    await initialize(idle);
    const rows = await env.DB.prepare('SELECT COUNT(*) n FROM sessions WHERE last_seen_at < ?')
      .bind(Date.now() - 60_000)
      .first<{ n: number }>();
    expect(rows?.n).toBe(0);
  });
});

describe('an invalid session id', () => {
  it('[MCP-10] gets 404 and creates no object, no row and no request', async () => {
    const server = await connect('unknown');
    const requests = server.posts.length;
    const session = await initialize(portico);
    const objects = (await listDurableObjectIds(env.CLIENT_SESSION)).length;
    const rows = await env.DB.prepare('SELECT COUNT(*) n FROM sessions').first('n');
    const forged = [
      'x',
      crypto.randomUUID(),
      'null',
      `${session}A`,
      session.slice(0, -2),
      session.toUpperCase(),
      session.replace(/^k1/, 'k2'),
      'k1.'.padEnd(600, 'A'),
      'a'.repeat(20_000),
    ];
    for (const id of forged) {
      for (const message of [
        legacy('tools/call', { name: 'unknown.echo' }),
        legacy('tools/list'),
        legacy('ping'),
        [legacy('ping')],
      ]) {
        const response = await portico.post(message, { headers: inSession(id) });
        expect([id.slice(0, 40), response.status]).toEqual([id.slice(0, 40), 404]);
      }
      expect(
        (await portico.api('DELETE', '/mcp', undefined, { headers: inSession(id) })).status,
      ).toBe(404);
    }
    expect((await listDurableObjectIds(env.CLIENT_SESSION)).length).toBe(objects);
    expect(await env.DB.prepare('SELECT COUNT(*) n FROM sessions').first('n')).toBe(rows);
    expect(server.posts.length).toBe(requests);
  });

  it('[MCP-10] may be absent where none is needed, and gets 400 where one is', async () => {
    await connect('dropped', { sessionful: false });
    const objects = (await listDurableObjectIds(env.CLIENT_SESSION)).length;
    expect(text(await callTool(portico, 'dropped.echo'))).toBe('{"a":1}');
    expect((await portico.post(legacy('tools/list'))).status).toBe(200);
    expect((await portico.post(legacy('ping'))).status).toBe(200);
    expect((await portico.api('DELETE', '/mcp')).status).toBe(400);
    expect((await listDurableObjectIds(env.CLIENT_SESSION)).length).toBe(objects);
  });

  it('[MCP-10] [UP-2] absent at a server with sessions uses one session per principal and server', async () => {
    const server = await connect('principal');
    await callTool(portico, 'principal.echo');
    await callTool(createPortico(), 'principal.echo');
    const { token } = await createToken(portico);
    await callTool(portico, 'principal.echo', undefined, token);
    const [first, second, third] = server.of('tools/call').map(post => post.session);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('[MCP-10] the object of an unused session does not exist', async () => {
    const before = (await listDurableObjectIds(env.CLIENT_SESSION)).length;
    const session = await initialize(portico);
    await portico.post(legacy('tools/list'), { headers: inSession(session) });
    expect((await listDurableObjectIds(env.CLIENT_SESSION)).length).toBe(before);
  });
});
