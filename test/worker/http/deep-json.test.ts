/** JSON that is nested too deep or has too many members is refused wherever JSON is read, before anything walks it. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  ADMIN,
  ask,
  createPortico,
  createToken,
  legacy,
  register,
  registerConnected,
  type RpcAnswer,
  SERVERS,
  whenServer,
  WHOLE,
} from '../support/portico.ts';

const LEVELS = 100_000;
const SHAPES = [
  ['arrays', `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`],
  ['objects', `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`],
  ['arrays that never end', '['.repeat(LEVELS)],
] as const;
const ERAS = ['legacy', 'modern'] as const;
const HOLE = '"HOLE"';

const portico = createPortico();
const server = new FakeServer({ sessionful: false });

beforeAll(async () => {
  serve({ deep: server });
  await registerConnected(portico, 'deep');
});
beforeEach(() => {
  serve({ deep: server });
  server.posts.length = 0;
});

const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' };

describe.each(SHAPES)('a body of 100,000 %s', (_shape, deep) => {
  it.each(ERAS)('[SEC-9] [SEC-4] is refused at /mcp: %s', async era => {
    const made = ask(era, 'tools/call', { name: 'deep.echo', arguments: { a: 'HOLE' } });
    const text = JSON.stringify(made.message).replace(HOLE, deep);
    for (const body of [text, `[${text}]`, deep]) {
      const response = await portico.post(body, { headers: { ...WHOLE, ...made.headers } });
      expect(response.status).toBe(400);
      const { error } = await response.json<RpcAnswer>();
      expect(error).toEqual({ code: -32700, message: 'The body is nested more than 128 deep' });
    }
    expect(server.of('tools/call')).toEqual([]);
  });

  it('[SEC-9] is refused at every route of the API, after the credential was checked', async () => {
    const routes = await loadRoutes();
    expect(routes.length).toBeGreaterThan(30);
    const wrong: unknown[] = [];
    for (const [method, path] of routes) {
      for (const body of [deep, `{"name":${deep}}`]) {
        const response = await portico.fetch(path, { method, headers, body });
        const { code } = await response.json<{ code: string }>();
        if (response.status !== 400 || code !== 'parse_error') {
          wrong.push([method, path, response.status, code]);
        }
      }
      const own = { 'content-type': 'application/json' };
      const { status } = await portico.fetch(path, { method, headers: own, body: deep });
      if (status !== 401) wrong.push([method, path, status]);
    }
    expect(wrong).toEqual([]);
  });
});

async function loadRoutes(): Promise<[method: string, path: string][]> {
  const document = await portico.api('GET', '/openapi.json');
  const { paths } = await document.json<{ paths: Record<string, Record<string, Operation>> }>();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method, { requestBody, security }]) => {
        // The machine's own route takes another credential.
        const isOurs = security === undefined || security.some(({ bearer }) => bearer);
        return method !== 'get' && requestBody?.content['application/json'] && isOurs;
      })
      .map(([method]): [string, string] => [
        method.toUpperCase(),
        path.replaceAll(/\{\w+\}/gu, 'MISSING'),
      ]),
  );
}

interface Operation {
  requestBody?: { content: Record<string, unknown> };
  security?: Record<string, unknown>[];
}

describe('a body', () => {
  it('[SEC-9] [SEC-4] of too many members is refused', async () => {
    const many = `[${'{},'.repeat(300_000)}{}]`;
    const call = JSON.stringify(
      legacy('tools/call', { name: 'deep.echo', arguments: { a: 'HOLE' } }),
    );
    const response = await portico.post(call.replace(HOLE, many));
    expect(response.status).toBe(413);
    const { error } = await response.json<RpcAnswer>();
    expect(error?.message).toBe('The body has more than 250000 members');
    const body = `{"name":"deep.echo","arguments":{"a":${many}}}`;
    const rest = await portico.fetch('/api/v1/tools/call', { method: 'POST', headers, body });
    expect(rest.status).toBe(413);
    expect(server.of('tools/call')).toEqual([]);
  });

  it('[SEC-4] is bounded by the settings', async () => {
    const PORTICO_MAX_JSON_DEPTH = '16';
    const PORTICO_MAX_JSON_MEMBERS = '1000';
    const small = createPortico({ PORTICO_MAX_JSON_DEPTH, PORTICO_MAX_JSON_MEMBERS });
    const send = async (value: unknown) => {
      const sent = await small.post(
        legacy('tools/call', { name: 'deep.echo', arguments: { value } }),
      );
      return sent.status;
    };
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    // The message, its params and its arguments are three levels themselves.
    expect(await send(nested(13))).toBe(200);
    expect(await send(nested(14))).toBe(400);
    expect(await send(Array.from({ length: 900 }, () => 1))).toBe(200);
    expect(await send(Array.from({ length: 1_001 }, () => 1))).toBe(413);
  });

  it('[MCP-7] of the maximum depth is returned unchanged, and recorded', async () => {
    const deep = `${'['.repeat(124)}1.50${']'.repeat(124)}`;
    const text = JSON.stringify(
      legacy('tools/call', { name: 'deep.echo', arguments: { a: 'HOLE' } }),
    );
    const response = await portico.post(text.replace(HOLE, deep), { headers: WHOLE });
    expect(response.status).toBe(200);
    expect(server.of('tools/call').at(-1)?.text).toContain(deep);
  });
});

describe.each(SHAPES)('a response of 100,000 %s', (_shape, deep) => {
  const result = `{"content":[],"structuredContent":{"a":${deep}}}`;

  it.each(ERAS)('[SEC-9] fails its own call, and nothing else: %s', async era => {
    const { call } = server;
    const forms: ((id: unknown) => Response)[] = [
      id => json(`{"jsonrpc":"2.0","id":${String(id)},"result":${result}}`),
      id => json(`{"jsonrpc":"2.0","id":${String(id)},"error":${deep}}`, 400),
      () => json(deep, 500),
      id => events(`{"jsonrpc":"2.0","id":${String(id)},"result":${result}}`),
      id =>
        events(
          `{"jsonrpc":"2.0","method":"notifications/message","params":${deep}}`,
          `{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[]}}`,
        ),
    ];
    const { message, headers: own } = ask(era, 'tools/call', { name: 'deep.echo' });
    for (const form of forms) {
      server.call = post => form(post.id);
      const response = await portico.post(message, { headers: { ...WHOLE, ...own } });
      expect(response.status).toBe(200);
      const answer = await response.json<RpcAnswer>();
      expect(answer.result?.isError).toBe(true);
    }
    server.call = call;
    const after = await portico.post(message, { headers: { ...WHOLE, ...own } });
    expect((await after.json<RpcAnswer>()).result?.isError).toBeUndefined();
  });

  it('[SEC-9] to the first request leaves a server with an error that says why', async () => {
    const odd = new FakeServer();
    odd.outage = () => json(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
    serve({ deep: server, odd });
    const { id } = await register(portico, 'odd');
    const found = await whenServer(portico, id, ({ last_error: reason }) => reason !== null);
    expect(found.status).toBe('ERROR');
    await portico.api('DELETE', `${SERVERS}/${id}`);
  });
});

describe.each(SHAPES.slice(0, 2))('a definition of 100,000 %s', (_shape, deep) => {
  it('[SEC-9] [MCP-12] as a tool loses no other tool', async () => {
    const odd = new FakeServer({ tools: [toolOf('good'), 'HOLE', toolOf('fine')] });
    const listed = odd.handle;
    serve({ deep: server, odd });
    const spoil = async (request: Request) => {
      const answer = await listed(request);
      const text = await answer.text();
      return new Response(
        text.replace(HOLE, `{"name":"deep","inputSchema":{"a":${deep}}}`),
        answer,
      );
    };
    fakeUpstreams({ 'https://odd.example.com': spoil, 'https://deep.example.com': server.handle });
    const { id, tool_count: count } = await registerConnected(portico, 'odd');
    expect(count).toBe(2);
    await portico.api('DELETE', `${SERVERS}/${id}`);
  });
});

const json = (body: string, status = 200) =>
  new Response(body, { status, headers: { 'content-type': 'application/json' } });
const events = (...messages: string[]) =>
  new Response(messages.map(message => `data: ${message}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });

describe('a name', () => {
  const LONG = 'x'.repeat(1_001);
  const REFERENCE = { type: 'ref/prompt', name: LONG };

  it.each<[string, Record<string, unknown>]>([
    ['tools/call', { name: LONG }],
    ['prompts/get', { name: LONG }],
    ['resources/read', { uri: `file:///${'x'.repeat(8_192)}` }],
    ['resources/subscribe', { uri: `file:///${'x'.repeat(8_192)}` }],
    ['completion/complete', { ref: REFERENCE, argument: { name: 'a', value: '' } }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'x'.repeat(8_193) } }],
    ['tools/list', { cursor: 'x'.repeat(32_769) }],
    ['tasks/get', { taskId: 'x'.repeat(32_769) }],
    ['tools/call', { name: 'deep.echo', _meta: { progressToken: LONG } }],
  ])(
    '[SEC-4] that is too long is refused before anything is done with it: %s',
    async (...given) => {
      const [method, params] = given;
      for (const era of ERAS) {
        const { message, headers: own } = ask(era, method, params);
        const { 'mcp-name': _tooLong, ...rest } = own as Record<string, string>;
        const response = await portico.post(message, { headers: { ...WHOLE, ...rest } });
        const text = await response.text();
        expect(JSON.parse(text)).toMatchObject({ error: { code: -32602 } });
        expect(text).toMatch(/may have [\d]+ characters at most/);
        expect(text.length).toBeLessThan(1_000);
      }
      expect(server.of('tools/call')).toEqual([]);
    },
  );

  it('[SEC-4] of a method that is too long, and such an id, are refused', async () => {
    for (const message of [legacy(LONG), legacy('ping', {}, LONG)]) {
      const response = await portico.post(message, { headers: WHOLE });
      expect(response.status).toBe(400);
      expect((await response.json<RpcAnswer>()).error?.code).toBe(-32600);
    }
  });

  it('[SEC-4] that is too long is refused over REST', async () => {
    const { token } = await createToken(portico);
    for (const body of [{ name: LONG }, { original_name: LONG, server_id: 'x' }]) {
      const response = await portico.api('POST', '/api/v1/tools/call', body, { token });
      expect(response.status).toBe(422);
    }
  });
});
