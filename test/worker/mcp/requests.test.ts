/** Batches, endpoints with their names, and calls over REST. */
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, resultOf, serve } from '../support/fake-server.ts';
import {
  ADMIN,
  createPortico,
  legacy,
  modern,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';

const CLIENT = { name: 't', version: '1' };
const portico = createPortico();
const server = new FakeServer({ sessionful: false });

beforeAll(async () => {
  serve({ border: server });
  await registerConnected(portico, 'border');
});
beforeEach(() => {
  serve({ border: server });
  server.posts.length = 0;
});

const call = (id: unknown = 1, name = 'border.echo') =>
  legacy('tools/call', { name, arguments: { id } }, id);
const calls = () => server.of('tools/call').length;

/** POSTs a body as it is. */
function postRaw(body: BodyInit, headers: Record<string, string> = {}, path = '/mcp') {
  const sent = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json', ...headers };
  return portico.fetch(path, { method: 'POST', headers: sent, body });
}

describe('a session of an older revision', () => {
  it.each([
    ['2024-11-05', 'text', 'resource'],
    ['2025-03-26', 'text', 'audio'],
    ['2025-06-18', 'resource_link', 'audio'],
    ['2025-11-25', 'resource_link', 'audio'],
  ])('[MCP-1] [MCP-5] %s gets a link as %s and a sound as %s', async (version, ...types) => {
    const { call: usual } = server;
    server.call = post => {
      const link = { type: 'resource_link', uri: 'note://1', name: 'one' };
      const sound = { type: 'audio', data: 'aaaa', mimeType: 'audio/wav' };
      return resultOf(post, { content: [link, sound] });
    };
    const params = { protocolVersion: version, capabilities: {}, clientInfo: CLIENT };
    const opened = await portico.post(legacy('initialize', params));
    const session = opened.headers.get('mcp-session-id') ?? '';
    const response = await portico.post(call(), { headers: { 'mcp-session-id': session } });
    const { result } = await response.json<RpcAnswer>();
    server.call = usual;
    expect(result?.content).toMatchObject(types.map(type => ({ type })));
    expect(JSON.stringify(result)).toContain('border+note://1');
  });
});

describe('a batch of 2025-03-26', () => {
  it('[MCP-1] has each of its requests answered, by id', async () => {
    const batch = [
      call('a'),
      { jsonrpc: '2.0', method: 'notifications/x' },
      legacy('ping', {}, 2),
      { jsonrpc: '2.0', id: 9, result: {} },
      legacy('tools/none', {}, 3),
      call('b'),
    ];
    const response = await portico.post(batch);
    expect(response.status).toBe(200);
    const answers = await response.json<RpcAnswer[]>();
    expect(answers.map(({ id }) => id)).toEqual(['a', 2, 3, 'b']);
    expect(answers[0]?.result?.content?.[0]?.text).toBe('{"id":"a"}');
    expect(answers[1]).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
    expect(answers[2]?.error?.code).toBe(-32601);
    expect(answers[3]?.result?.content?.[0]?.text).toBe('{"id":"b"}');
  });

  it('[MCP-1] of notifications only gets 202', async () => {
    expect((await portico.post([{ jsonrpc: '2.0', method: 'notifications/x' }])).status).toBe(202);
  });

  it.each<[string, unknown]>([
    ['something that is no message', {}],
    ['a request without a valid id', { jsonrpc: '2.0', id: null, method: 'ping' }],
    ['a modern request', modern('tools/call', { name: 'border.echo' }).message],
    ['a batch', [legacy('ping')]],
  ])(
    '[MCP-1] with %s is refused as a whole, and none of it is dispatched',
    async (_what, element) => {
      for (const batch of [
        [call('a'), element],
        [element, call('a')],
      ]) {
        const response = await portico.post(batch);
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ error: { code: -32600 } });
      }
      expect(calls()).toBe(0);
    },
  );

  it('[MCP-1] may not open a session', async () => {
    const [answer] = await (
      await portico.post([legacy('initialize', { protocolVersion: '2025-03-26' })])
    ).json<RpcAnswer[]>();
    expect(answer?.error?.code).toBe(-32600);
    expect(
      await env.DB.prepare("SELECT COUNT(*) n FROM sessions WHERE principal_id = 'nobody'").first(
        'n',
      ),
    ).toBe(0);
  });

  it('[SEC-4] of more than 50 is refused', async () => {
    const many = Array.from({ length: 51 }, (_, i) => call(i));
    expect((await portico.post(many)).status).toBe(400);
    expect(calls()).toBe(0);
    const most = await (await portico.post(many.slice(1))).json<RpcAnswer[]>();
    expect(most).toHaveLength(50);
  });
});

describe('an endpoint', () => {
  it.each([
    '/mcp/servers/nobody',
    '/mcp/servers/%',
    '/mcp/servers/%00',
    '/mcp/servers/BORDER',
    '/mcp/servers/border%2f',
    '/mcp/servers/__proto__',
  ])('[MCP-3] %s gets 404', async path => {
    for (const token of [undefined, 'portico_none']) {
      const response = await portico.post(legacy('ping', {}, 'p1'), token ? { token } : {}, path);
      const { id } = await response.json<RpcAnswer>();
      expect([response.status, id]).toEqual(token ? [401, null] : [404, 'p1']);
    }
  });

  it('[MCP-8] with an unknown name style gets 400', async () => {
    for (const names of ['', 'DOT', 'slash', 'dot,colon']) {
      const path = `/mcp?names=${names}`;
      const { message, headers } = modern('tools/list', {}, 'm7');
      for (const [sent, id] of [
        [portico.post(legacy('tools/list', {}, 7), {}, path), 7],
        [portico.post(message, { headers }, path), 'm7'],
        [portico.post('no JSON', {}, path), null],
      ] as const) {
        const response = await sent;
        const answer = await response.json<RpcAnswer>();
        expect([response.status, answer.id, answer.error?.code]).toEqual([400, id, -32602]);
      }
    }
  });

  it.each([
    ['dot', 'border.echo'],
    ['colon', 'border:echo'],
    ['underscore', 'border__echo'],
  ])(
    '[MCP-8] in the style %s lists %s, and every form of the name can be called',
    async (names, listed) => {
      const list = await (
        await portico.post(legacy('tools/list'), {}, `/mcp?names=${names}`)
      ).json<RpcAnswer>();
      expect(list.result?.tools?.map(({ name }) => name)).toContain(listed);
      for (const name of ['border.echo', 'border:echo', 'border__echo', 'border/echo']) {
        const response = await portico.post(call(1, name), {}, `/mcp?names=${names}`);
        expect([name, (await response.json<RpcAnswer>()).result?.content?.[0]?.text]).toEqual([
          name,
          '{"id":1}',
        ]);
      }
    },
  );
});

describe('a call over REST', () => {
  interface CallView {
    content: unknown[];
    isError: boolean;
    metadata: { routed_to: string; routing_time_ms: number; execution_time_ms: number };
  }

  it('[REG-7] [AG-US4-AC2] returns the result and its origin', async () => {
    const { id } = (
      await (
        await portico.api('GET', '/api/v1/tools')
      ).json<{ servers: { id: string; name: string }[] }>()
    ).servers.find(({ name }) => name === 'border') ?? { id: '' };
    for (const body of [{ name: 'border.echo' }, { original_name: 'echo', server_id: id }]) {
      const response = await portico.api('POST', '/api/v1/tools/call', {
        ...body,
        arguments: { n: 1 },
      });
      expect(response.status).toBe(200);
      const answer = await response.json<CallView>();
      expect(answer).toMatchObject({
        content: [{ type: 'text', text: '{"n":1}' }],
        isError: false,
        metadata: { routed_to: 'border' },
      });
      expect(answer.metadata.routing_time_ms).toBeGreaterThanOrEqual(0);
    }
  });

  it('[MCP-7] [AG-US4-AC5] keeps numbers as they were written', async () => {
    server.call = ({ id }) =>
      new Response(
        `{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[],"structuredContent":{"n":1.0,"big":12345678901234567890}}}`,
        { headers: { 'content-type': 'application/json' } },
      );
    const text = await (
      await postRaw(
        '{"name":"border.echo","arguments":{"n":1.0,"big":12345678901234567890}}',
        {},
        '/api/v1/tools/call',
      )
    ).text();
    expect(text).toContain('"structuredContent":{"n":1.0,"big":12345678901234567890}');
    expect(server.of('tools/call')[0]?.text).toContain('{"n":1.0,"big":12345678901234567890}');
    server.call = post =>
      resultOf(post, {
        content: [{ type: 'text', text: JSON.stringify(post.params['arguments'] ?? {}) }],
      });
  });

  it.each<[string, unknown, number, string]>([
    ['an unknown tool', { name: 'border.none' }, 404, 'tool_not_found'],
    ['an unknown server', { name: 'nobody.echo' }, 404, 'tool_not_found'],
    ['an unknown server id', { original_name: 'echo', server_id: 'nobody' }, 404, 'tool_not_found'],
    ['a name without a server', { name: 'echo' }, 400, 'tool_name_unprefixed'],
    ['no name', {}, 422, 'validation_failed'],
    [
      'both forms',
      { name: 'border.echo', original_name: 'echo', server_id: 'x' },
      422,
      'validation_failed',
    ],
    [
      'arguments that are no object',
      { name: 'border.echo', arguments: [] },
      422,
      'validation_failed',
    ],
  ])('[REG-7] [AG-US4-AC7] of %s is refused', async (_what, body, status, code) => {
    const response = await portico.api('POST', '/api/v1/tools/call', body);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ code, status });
    expect(calls()).toBe(0);
  });

  it('[REG-7] [AG-US4-AC3] to a disconnected server gets 503 and its state', async () => {
    const body = {
      name: 'resting',
      transport_type: 'HTTP',
      connection_config: { url: 'https://resting.example.com/' },
      auto_connect: false,
    };
    expect((await portico.api('POST', '/api/v1/aggregator/servers', body)).status).toBe(201);
    const response = await portico.api('POST', '/api/v1/tools/call', { name: 'resting.echo' });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      code: 'server_disconnected',
      server: { name: 'resting', status: 'DISCONNECTED' },
    });
  });
});
