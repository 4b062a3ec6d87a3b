/** Sessions at upstreams: forgotten ones are opened again, once, and nothing else is ever sent twice. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { FakeServer, resultOf, serve } from '../support/fake-server.ts';
import {
  createPortico,
  initialize,
  inSession,
  legacy,
  registerConnected,
  SERVERS,
  type Portico,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();

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

describe('an upstream that forgot its session', () => {
  it.each<[string, FakeServer['forgotten'] | undefined]>([
    ['404', undefined],
    [
      '400 and -32000',
      () =>
        Response.json(
          {
            jsonrpc: '2.0',
            id: null,
            error: { code: -32000, message: 'Bad Request: No valid session ID provided' },
          },
          { status: 400 },
        ),
    ],
    ['404 without JSON', () => new Response('gone', { status: 404 })],
  ])(
    '[UP-2] [MCP-10] and says so by %s gets the call once more in a new one',
    async (what, forgotten) => {
      const name = `forgets-${what.replaceAll(/\W/g, '').toLowerCase()}`;
      const server = await connect(name);
      if (forgotten) server.forgotten = forgotten;
      const session = await initialize(portico);
      await callTool(portico, `${name}.echo`, session);
      server.sessions.clear();
      const opened = server.of('initialize').length;
      expect(text(await callTool(portico, `${name}.echo`, session))).toBe('{"a":1}');
      expect(server.of('initialize').length).toBe(opened + 1);
      const calls = server.of('tools/call').map(post => post.session);
      expect(calls).toHaveLength(3);
      expect(calls[1]).toBe(calls[0]);
      expect(calls[2]).not.toBe(calls[0]);
      expect(text(await callTool(createPortico(), `${name}.echo`, session))).toBe('{"a":1}');
      expect(server.of('tools/call').at(-1)?.session).toBe(calls[2]);
    },
  );

  it('[UP-2] gets one new session for twenty calls at once', async () => {
    const server = await connect('amnesia');
    const session = await initialize(portico);
    await callTool(portico, 'amnesia.echo', session);
    server.sessions.clear();
    const opened = server.of('initialize').length;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => callTool(portico, 'amnesia.echo', session)),
    );
    for (const answer of answers) expect(text(answer)).toBe('{"a":1}');
    expect(server.of('initialize').length).toBe(opened + 1);
  });

  it('[UP-2] for the second time is not asked a third time', async () => {
    const server = await connect('senile');
    const session = await initialize(portico);
    server.call = () => new Response(null, { status: 404 });
    const answer = await callTool(portico, 'senile.echo', session);
    expect(answer.result).toMatchObject({
      isError: true,
      _meta: { 'portico/reason': 'upstream_session' },
    });
    expect(text(answer)).toContain('senile');
    expect(server.of('tools/call')).toHaveLength(2);
  });

  it('[UP-2] [MCP-12] is the only one asked twice: nothing else is sent again', async () => {
    const server = await connect('once');
    const session = await initialize(portico);
    const faults: (() => Response)[] = [
      () => new Response('no', { status: 500 }),
      () => new Response('no', { status: 503, headers: { 'retry-after': '1' } }),
      () => new Response(null, { status: 429 }),
      () => new Response('{', { headers: { 'content-type': 'application/json' } }),
      () => new Response('data: {"jsonrpc"', { headers: { 'content-type': 'text/event-stream' } }),
      () => Response.json({ jsonrpc: '2.0', id: 'another', result: {} }),
      () => new Response(null, { status: 202 }),
      () =>
        new Response(null, {
          status: 302,
          headers: { location: 'https://once.example.com/other' },
        }),
      () => {
        throw new TypeError('connection reset');
      },
    ];
    const usual = server.call;
    for (const [i, fault] of faults.entries()) {
      const before = server.of('tools/call').length;
      server.call = fault;
      const answer = await callTool(portico, 'once.echo', session);
      expect([`fault ${i}`, answer.result?.isError]).toEqual([`fault ${i}`, true]);
      expect([`fault ${i}`, server.of('tools/call').length]).toEqual([`fault ${i}`, before + 1]);
      // This many failures in a row would open the circuit.
      server.call = usual;
      expect(text(await callTool(portico, 'once.echo', session))).toBe('{"a":1}');
    }
  });

  it('[UP-2] [MCP-12] and cannot open another causes an error that says why', async () => {
    const server = await connect('closed');
    const session = await initialize(portico);
    await callTool(portico, 'closed.echo', session);
    server.outage = () => new Response('no', { status: 503 });
    const answer = await callTool(portico, 'closed.echo', session);
    expect(answer.result).toMatchObject({
      isError: true,
      _meta: { 'portico/reason': 'upstream_5xx' },
    });
    server.outage = undefined;
    server.sessions.clear();
    expect(text(await callTool(portico, 'closed.echo', session))).toBe('{"a":1}');
  });
});

describe('another URL of a server', () => {
  it('[SEC-1] [UP-2] gets a session of its own', async () => {
    const server = await connect('moving');
    const session = await initialize(portico);
    await callTool(portico, 'moving.echo', session);
    const { servers } = await (
      await portico.api('GET', SERVERS)
    ).json<{ servers: { id: string; name: string }[] }>();
    const id = servers.find(({ name }) => name === 'moving')?.id ?? '';
    await env.DB.prepare('UPDATE servers SET url = ? WHERE id = ?')
      .bind('https://moving.example.com/other', id)
      .run();
    server.call = post => resultOf(post, { content: [{ type: 'text', text: 'moved' }] });
    expect(text(await callTool(createPortico(), 'moving.echo', session))).toBe('moved');
    const [before, after] = server.of('tools/call').map(post => post.session);
    expect(after).not.toBe(before);
  });
});
