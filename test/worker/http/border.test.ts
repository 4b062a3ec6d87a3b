/** Checks before dispatch: bodies, methods and versions. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  ADMIN,
  createPortico,
  initialize,
  inSession,
  legacy,
  modern,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';

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

describe('a body', () => {
  it('[SEC-4] that is compressed gets 415 with advice, and is never decoded', async () => {
    const form = 'application/x-www-form-urlencoded';
    const zipped = async (text: string) => {
      const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'));
      return new Response(packed).arrayBuffer();
    };
    const bodies = [
      ['/mcp', 'application/json', JSON.stringify(call())],
      ['/api/v1/tools/call', 'application/json', '{"name":"border.echo","arguments":{}}'],
      ['/token', form, 'grant_type=refresh_token'],
    ] as const;
    for (const [path, type, text] of bodies) {
      const headers = { 'content-type': type, 'content-encoding': 'gzip' };
      const answer = await postRaw(await zipped(text), headers, path);
      // The authorization server has an error of its own standard.
      expect([path, answer.status]).toEqual([path, path === '/token' ? 400 : 415]);
      expect(await answer.text()).toContain('without Content-Encoding');
    }
    expect(calls()).toBe(0);
  });

  it('[SEC-4] over the limit gets 413, with or without a declared length', async () => {
    const small = createPortico({ PORTICO_MAX_BODY_BYTES: '1024' });
    const text = JSON.stringify(
      legacy('tools/call', { name: 'border.echo', arguments: { pad: 'x'.repeat(2_000) } }),
    );
    const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' };
    for (const path of ['/mcp', '/mcp/servers/border', '/api/v1/tools/call', '/api/v1/tokens']) {
      const declared = await small.fetch(path, {
        method: 'POST',
        headers: { ...headers, 'content-length': String(text.length) },
        body: text,
      });
      expect([path, declared.status]).toEqual([path, 413]);
      const streamed = await small.fetch(path, {
        method: 'POST',
        headers,
        body: new Blob([text]).stream(),
      });
      expect([path, streamed.status]).toEqual([path, 413]);
    }
    expect(calls()).toBe(0);
  });

  it('[MCP-1] at the limit passes', async () => {
    const text = JSON.stringify(call()).padEnd(1_024, ' ');
    const exact = createPortico({ PORTICO_MAX_BODY_BYTES: '1024' });
    expect((await exact.post(text)).status).toBe(200);
    expect((await exact.post(`${text} `)).status).toBe(413);
  });

  it.each([
    '',
    '{',
    '{"jsonrpc":"2.0","id":1,"method":"ping"',
    'ping',
    '{"a":1}{"b":2}',
    "{'a':1}",
    '[1,]',
    '\u00ff',
    'NaN',
  ])('[MCP-1] that is not JSON gets 400 and -32700: %j', async text => {
    const response = await postRaw(text);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: expect.any(String) as unknown },
    });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json-seq',
    'text/json',
    '',
  ])('[MCP-1] [SEC-5] of type %j gets 415', async type => {
    const response = await postRaw(JSON.stringify(call()), { 'content-type': type });
    expect(response.status).toBe(415);
    expect(calls()).toBe(0);
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=UTF-8',
    'application/json ; x=y',
  ])('[MCP-1] of type %j passes', async type => {
    expect((await postRaw(JSON.stringify(call()), { 'content-type': type })).status).toBe(200);
  });

  it.each([
    null,
    1,
    'x',
    {},
    [],
    { jsonrpc: '2.0' },
    { jsonrpc: '1.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 1.5, method: 'ping' },
    { jsonrpc: '2.0', id: null, method: 'ping' },
  ])('[MCP-1] that is no message gets 400 and -32600: %j', async body => {
    const response = await postRaw(JSON.stringify(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32600 } });
  });

  it('[SEC-4] nested 100,000 deep breaks nothing', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const response = await postRaw(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"border.echo","arguments":{"a":${deep}}}}`,
    );
    expect(response.status).toBe(400);
    await response.text();
    expect((await portico.post(legacy('ping'))).status).toBe(200);
  });
});

describe('a method', () => {
  it('[MCP-1] that is not of the protocol gets 405', async () => {
    for (const method of ['PUT', 'PATCH', 'HEAD', 'OPTIONS']) {
      const response = await portico.fetch('/mcp', {
        method,
        headers: { authorization: `Bearer ${ADMIN}` },
      });
      expect([method, response.status]).toEqual([method, 405]);
      expect(response.headers.get('allow')).toMatch(/POST, DELETE$/);
    }
  });

  it('[MCP-1] that is not allowed gets 405 with the allowed ones', async () => {
    const authorization = `Bearer ${ADMIN}`;
    const modernGet = { authorization, 'mcp-protocol-version': '2026-07-28' };
    for (const [method, path, headers, allow] of [
      ['GET', '/mcp', modernGet, 'POST'],
      ['PUT', '/mcp', { authorization }, 'GET, POST, DELETE'],
      ['POST', '/sse', { authorization }, 'GET'],
      ['GET', '/messages', { authorization }, 'POST'],
      ['POST', '/docs', {}, 'GET, HEAD'],
      ['POST', '/health', {}, 'GET, HEAD'],
      ['POST', '/health/live', {}, 'GET, HEAD'],
      ['DELETE', '/health/ready', {}, 'GET, HEAD'],
    ] as const) {
      const response = await portico.fetch(path, { method, headers });
      expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, allow]);
    }
    expect((await portico.fetch('/health', { method: 'HEAD' })).status).toBe(200);
  });

  it('[MCP-1] that is unknown gets the answer of its era', async () => {
    for (const method of ['tools/none', 'constructor', '__proto__', 'toString']) {
      const old = await portico.post(legacy(method));
      expect(old.status).toBe(200);
      expect(await old.json()).toMatchObject({ id: 1, error: { code: -32601 } });
      const { message, headers } = modern(method);
      const fresh = await portico.post(message, { headers });
      expect(fresh.status).toBe(404);
      expect(await fresh.json()).toMatchObject({ id: 1, error: { code: -32601 } });
    }
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['the version', { 'mcp-protocol-version': '2025-11-25' }],
    ['the method', { 'mcp-method': 'tools/list' }],
    ['the name', { 'mcp-name': 'border.other' }],
    ['no version', { 'mcp-protocol-version': undefined }],
    ['no method', { 'mcp-method': undefined }],
    ['no name', { 'mcp-name': undefined }],
  ])(
    '[MCP-1] whose header is inconsistent with it gets 400 and -32020: %s',
    async (_what, replaced) => {
      const { message, headers } = modern('tools/call', { name: 'border.echo' });
      const sent = Object.fromEntries(
        Object.entries({ ...headers, ...replaced }).filter(([, value]) => value !== undefined),
      ) as Record<string, string>;
      const response = await portico.post(message, { headers: sent });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ id: 1, error: { code: -32020 } });
      expect(calls()).toBe(0);
    },
  );

  it('[MCP-1] of an unknown legacy version gets 400', async () => {
    const response = await portico.post(legacy('ping'), {
      headers: { 'mcp-protocol-version': '2023-01-01' },
    });
    expect(response.status).toBe(400);
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    '[MCP-1] initialize agrees on %s',
    async version => {
      const response = await portico.post(
        legacy('initialize', {
          protocolVersion: version,
          capabilities: {},
          clientInfo: { name: 'x', version: '1' },
        }),
      );
      expect(await response.json()).toMatchObject({
        result: { protocolVersion: version, serverInfo: { name: 'portico' } },
      });
    },
  );

  it('[MCP-1] initialize answers an unknown version with the newest legacy version', async () => {
    for (const protocolVersion of ['2099-01-01', '2026-07-28', 'x']) {
      const { result } = await (
        await portico.post(legacy('initialize', { protocolVersion, capabilities: {} }))
      ).json<RpcAnswer>();
      expect(result?.['protocolVersion']).toBe('2025-11-25');
    }
  });

  it('[MCP-1] that is a notification gets 202 without a body, an unexpected response 400', async () => {
    const headers = inSession(await initialize(portico));
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const notified = await portico.post(initialized, { headers });
    expect([notified.status, await notified.text()]).toEqual([202, '']);
    const unasked = await portico.post({ jsonrpc: '2.0', id: 1, result: {} }, { headers });
    expect(unasked.status).toBe(400);
    expect(await unasked.json()).toMatchObject({ error: { code: -32600 } });
  });
});
