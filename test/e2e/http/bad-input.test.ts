/** Broken, hostile and misplaced requests: each gets exactly one response, none reaches an upstream, and the gateway keeps running. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { makeToken, QUIET, startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { modernHeaders, open, openLegacy, openModern, post } from '../support/raw-client.ts';
import { requestBody, resumeLegacy, textOf } from '../support/raw-client.ts';
import type { Era, Target } from '../support/raw-client.ts';

const MAX_BODY_BYTES = 65_536;
const eras = ['legacy', 'modern'] as const;
let upstream: Upstream;
let gateway: Gateway;
let requests: number | undefined;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([
    startFixture('rich-modern'),
    startGateway({
      env: {
        PORTICO_MAX_BODY_BYTES: String(MAX_BODY_BYTES),
        ...QUIET,
      },
    }),
  ]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

beforeEach(async () => void ({ requests } = await upstream.counters()));
afterEach(async () => {
  if ((await upstream.counters())['requests'] !== requests)
    throw new Error('an upstream was asked');
  if (!(await fetch(`${gateway.origin}/health`)).ok) throw new Error('the gateway is not well');
});

const target = (): Target => ({ url: `${gateway.origin}/mcp`, token: gateway.adminToken });
const echo = (era: Era, message = 'x') =>
  requestBody(era, 'tools/call', JSON.stringify({ name: 'rich.echo', arguments: { message } }), 1);
const echoHeaders = (era: Era) =>
  era === 'modern' ? modernHeaders('tools/call', 'rich.echo') : {};

describe('credentials', () => {
  const refused: [string, () => string | null][] = [
    ['no token', () => null],
    ['an unknown token', () => `Bearer ${makeToken()}`],
    ['a malformed token', () => 'Bearer portico_short'],
    ['a token of another kind', () => `Bearer ${'x'.repeat(51)}`],
    ['an empty token', () => 'Bearer '],
    ['another scheme', () => `Basic ${btoa(`admin:${gateway.adminToken}`)}`],
    ['a token with one character changed', () => `Bearer ${gateway.adminToken.slice(0, -2)}__`],
    ['a huge token', () => `Bearer portico_${'A'.repeat(8_000)}`],
  ];

  it.each(refused)('[ACC-1] refuses %s on every route but health', async (_, authorization) => {
    const header = authorization();
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (header !== null) headers['authorization'] = header;
    const ask = (path: string, body?: string) =>
      fetch(
        gateway.origin + path,
        body === undefined ? { headers } : { method: 'POST', headers, body },
      );
    const answers = await Promise.all([
      ...eras.map(era => post(target(), echo(era), { ...echoHeaders(era), authorization: header })),
      ask('/mcp/servers/rich', echo('legacy')),
      ask('/api/v1/tools/call', '{"name":"rich.echo","arguments":{"message":"x"}}'),
      ask('/api/v1/aggregator/servers'),
      ask('/api/v1/tokens'),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/u);
    }
  });
});

it('[ACC-1] [REG-8] shows nobody without a credential which routes exist', async () => {
  const answers = await Promise.all(
    ['/no/such/route', '/api/v1/nothing', '/mcp/nothing'].map(path => fetch(gateway.origin + path)),
  );
  expect(answers.map(answer => answer.status)).toEqual([401, 401, 401]);
});

describe.each(eras)('%s era', era => {
  const send = (body: string | Uint8Array<ArrayBuffer>, more: Record<string, string | null> = {}) =>
    post(target(), body, { ...echoHeaders(era), ...more });

  it('[SEC-4] answers 413 to a body over the limit, with and without its length', async () => {
    const body = echo(era, 'x'.repeat(MAX_BODY_BYTES));
    expect((await send(body)).status).toBe(413);
    const chunks = new Blob([body]).stream();
    const headers = new Headers({
      ...echoHeaders(era),
      authorization: `Bearer ${gateway.adminToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    });
    const init = { method: 'POST', headers, body: chunks, duplex: 'half' } as RequestInit;
    expect((await fetch(target().url, init)).status).toBe(413);
  });

  const broken = [
    '',
    '{',
    '{"jsonrpc":"2.0",}',
    'not json',
    '[1,2',
    '{"a":01}',
    `${'['.repeat(30_000)}`,
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}}',
    "{'jsonrpc':'2.0'}",
    '{"a":"\u0001"}',
  ];
  it.each(broken)('[SEC-4] answers 400 and -32700 to broken JSON: %s', async body => {
    const answer = await send(body);
    expect([answer.status, answer.message.error?.code]).toEqual([400, -32_700]);
  });

  it('[SEC-4] answers 400 and -32700 to bytes that are not UTF-8 JSON', async () => {
    const answer = await send(new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]));
    expect([answer.status, answer.message.error?.code]).toEqual([400, -32_700]);
  });

  const notRequests = ['1', '"text"', 'null', 'true', '{}', '[]', '{"jsonrpc":"2.0","id":1}'];
  it.each([...notRequests, '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', '[null]'])(
    '[SEC-4] answers 400 to JSON that is no JSON-RPC: %s',
    async body => {
      const answer = await send(body);
      expect(answer.status).toBe(400);
      expect(answer.message.error?.code).toBeLessThan(0);
    },
  );

  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=x', null])(
    '[SEC-4] answers 415 to the content type %s',
    async type => {
      expect((await send(echo(era), { 'content-type': type })).status).toBe(415);
    },
  );

  it('[MCP-9] names an unknown tool and a name without a server part', async () => {
    const client = await open(era, target());
    for (const name of ['rich.nothing', 'nobody.echo', 'rich.', 'rich.echo.more']) {
      const answer = await client.call(name);
      expect(answer.message.error).toMatchObject({
        code: era === 'legacy' ? -32_601 : -32_602,
        message: `Tool not found: ${name}`,
      });
    }
    const answer = await client.call('echo');
    expect(answer.message.error).toMatchObject({
      code: -32_602,
      message: 'Tool name must be prefixed with server key: echo',
    });
  });

  it.each(['{"arguments":{}}', '{"name":7}', '{"name":"rich.echo","arguments":[]}'])(
    '[SEC-4] refuses tools/call with the parameters %s',
    async params => {
      const answer = await send(requestBody(era, 'tools/call', params, 1), {
        'mcp-name': 'rich.echo',
      });
      expect(answer.message.error?.code).toBeLessThan(0);
    },
  );

  it('[MCP-1] answers -32601 to an unknown method', async () => {
    const client = await open(era, target());
    const answer = await client.request('no/such/method');
    expect(answer.message.error?.code).toBe(-32_601);
    expect(answer.status).toBe(era === 'modern' ? 404 : 200);
  });

  it('[MCP-3] answers 404 for a server that does not exist', async () => {
    const body = requestBody(era, 'tools/list', '{}', 1);
    const headers = era === 'modern' ? modernHeaders('tools/list') : {};
    const answer = await post(
      { ...target(), url: `${target().url}/servers/nobody` },
      body,
      headers,
    );
    expect(answer.status).toBe(404);
  });
});

describe('modern headers', () => {
  const wrong: [string, Record<string, string | null>][] = [
    ['another method', { 'mcp-method': 'tools/list' }],
    ['no method', { 'mcp-method': null }],
    ['another name', { 'mcp-name': 'rich.image' }],
    ['no name', { 'mcp-name': null }],
    ['another version', { 'mcp-protocol-version': '2025-11-25' }],
  ];
  it.each(wrong)('[MCP-1] answers 400 and -32020 to %s in the header', async (_, more) => {
    const answer = await post(target(), echo('modern'), { ...echoHeaders('modern'), ...more });
    expect([answer.status, answer.message.error?.code]).toEqual([400, -32_020]);
  });

  it('[MCP-1] answers 400 and -32022 to an unsupported version', async () => {
    const body = echo('modern').replaceAll('2026-07-28', '2099-01-01');
    const headers = { ...echoHeaders('modern'), 'mcp-protocol-version': '2099-01-01' };
    const answer = await post(target(), body, headers);
    expect([answer.status, answer.message.error?.code]).toEqual([400, -32_022]);
    expect(JSON.stringify(answer.message.error?.data)).toContain('2026-07-28');
  });
});

describe('legacy sessions and versions', () => {
  it.each(['unknown', 'A'.repeat(400), '../../etc', '%00'])(
    '[MCP-10] answers 404 to the session id %s',
    async id => {
      const client = resumeLegacy(target(), id);
      expect((await client.request('tools/list')).status).toBe(404);
      expect((await client.call('rich.echo', { message: 'x' })).status).toBe(404);
    },
  );

  it('[MCP-10] answers 404 to a session id with one character changed', async () => {
    const { sessionId = '' } = await openLegacy(target());
    const middle = Math.floor(sessionId.length / 2);
    const other = sessionId[middle] === 'A' ? 'B' : 'A';
    const changed = sessionId.slice(0, middle) + other + sessionId.slice(middle + 1);
    expect((await resumeLegacy(target(), changed).request('tools/list')).status).toBe(404);
  });

  it.each(['GET', 'DELETE'])(
    '[MCP-10] answers a %s without or with an unknown session',
    async method => {
      const send = async (more: Record<string, string>) => {
        const accept = 'text/event-stream';
        const headers = { authorization: `Bearer ${gateway.adminToken}`, accept, ...more };
        return (await fetch(target().url, { method, headers })).status;
      };
      expect(await send({})).toBe(400);
      expect(await send({ 'mcp-session-id': 'unknown' })).toBe(404);
    },
  );

  it('[MCP-1] answers 400 to a legacy request of an unknown version', async () => {
    const more = { 'mcp-protocol-version': '2020-01-01' };
    const answer = await post(target(), requestBody('legacy', 'tools/list', '{}', 1), more);
    expect(answer.status).toBe(400);
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    '[MCP-1] initializes in %s',
    async protocolVersion => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } };
      const body = requestBody('legacy', 'initialize', JSON.stringify(params), 1);
      const answer = await post(target(), body);
      expect(answer.message.result?.['protocolVersion']).toBe(protocolVersion);
    },
  );

  it('[MCP-1] offers its own version to a client with an unknown one', async () => {
    const params = {
      protocolVersion: '1999-12-31',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const answer = await post(
      target(),
      requestBody('legacy', 'initialize', JSON.stringify(params), 1),
    );
    expect(answer.message.result?.['protocolVersion']).toBe('2025-11-25');
  });

  it.each(['PUT', 'PATCH'])('[MCP-1] answers 405 to %s', async method => {
    const headers = { authorization: `Bearer ${gateway.adminToken}`, accept: 'text/event-stream' };
    const answer = await fetch(target().url, { method, headers });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toContain('POST');
  });
});

describe('hosts and origins', () => {
  it('[SEC-5] refuses a page of another origin', async () => {
    const answer = await post(target(), echo('legacy'), { origin: 'https://evil.example' });
    expect(answer.status).toBe(403);
  });
});

describe('after all of this', () => {
  afterEach(async () => void ({ requests } = await upstream.counters()));

  it.each(eras)('[MCP-12] a call of the %s era works', async era => {
    const client = era === 'legacy' ? await openLegacy(target()) : openModern(target());
    expect(textOf(await client.call('rich.echo', { message: 'fine' }))).toBe('Echo: fine');
    requests = (await upstream.counters())['requests'];
  });
});
