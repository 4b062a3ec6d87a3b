/** Features of single revisions of the protocol, and what each revision requires of a request. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  ADMIN,
  createPortico,
  legacy,
  modern,
  registerConnected,
  type RpcAnswer,
  WHOLE,
} from '../support/portico.ts';

const portico = createPortico();
const server = new FakeServer({ sessionful: false });
const HEADERS = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' };

beforeAll(async () => {
  serve({ rev: server });
  await registerConnected(portico, 'rev');
});
beforeEach(() => {
  serve({ rev: server });
  server.posts.length = 0;
});

const batch = [legacy('ping', {}, 1), legacy('tools/call', { name: 'rev.echo' }, 2)];

async function openSession(protocolVersion: string): Promise<string> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const response = await portico.post(legacy('initialize', params));
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

describe('a batch', () => {
  it('[MCP-1] is served in a session of 2025-03-26, and without one', async () => {
    const session = await openSession('2025-03-26');
    const version = { 'mcp-protocol-version': '2025-03-26' };
    const sessions = [{}, version, { 'mcp-session-id': session }];
    for (const headers of [...sessions, { ...version, 'mcp-session-id': session }]) {
      const response = await portico.post(batch, { headers });
      expect(response.status).toBe(200);
      expect(await response.json()).toHaveLength(2);
    }
  });

  it.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    '[MCP-1] is refused in a session or under a header of %s, and none of it is dispatched',
    async version => {
      const session = await openSession(version);
      const named = { 'mcp-protocol-version': version };
      for (const headers of [named, { 'mcp-session-id': session }] as Record<string, string>[]) {
        const response = await portico.post(batch, { headers });
        expect(response.status).toBe(400);
        expect((await response.json<RpcAnswer>()).error).toEqual({
          code: -32600,
          message: 'Batches belong to 2025-03-26 only',
        });
      }
      expect(server.of('tools/call')).toEqual([]);
    },
  );
});

describe('initialize', () => {
  it.each([undefined, {}, { capabilities: {} }, { protocolVersion: 1, capabilities: {} }])(
    '[MCP-1] without a version opens no session: %j',
    async params => {
      const response = await portico.post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
      expect(response.headers.get('mcp-session-id')).toBeNull();
      expect((await response.json<RpcAnswer>()).error?.code).toBe(-32602);
    },
  );
});

describe('an error of a server', () => {
  const error = { code: -32020, message: 'Header mismatch: Mcp-Param-Region' };

  it('[MCP-7] about headers reaches a modern client with 400, a legacy one with 200', async () => {
    const { call } = server;
    server.call = post => Response.json({ jsonrpc: '2.0', id: post.id, error });
    const { message, headers } = modern('tools/call', { name: 'rev.echo' });
    const fresh = await portico.post(message, { headers: { ...WHOLE, ...headers } });
    const old = await portico.post(legacy('tools/call', { name: 'rev.echo' }), { headers: WHOLE });
    server.call = call;
    expect([fresh.status, old.status]).toEqual([400, 200]);
    expect((await fresh.json<RpcAnswer>()).error).toEqual(error);
    expect((await old.json<RpcAnswer>()).error).toEqual(error);
  });

  it('[MCP-1] [MCP-7] about the version is a failure for a modern client, whose version the gateway speaks', async () => {
    const refusal = {
      code: -32022,
      message: 'Unsupported protocol version',
      data: { supported: ['2027-01-01'], requested: '2026-07-28' },
    };
    const { call } = server;
    server.call = post => Response.json({ jsonrpc: '2.0', id: post.id, error: refusal });
    const { message, headers } = modern('tools/call', { name: 'rev.echo' });
    const fresh = await portico.post(message, { headers: { ...WHOLE, ...headers } });
    const old = await portico.post(legacy('tools/call', { name: 'rev.echo' }), { headers: WHOLE });
    server.call = call;
    expect(fresh.status).toBe(200);
    expect((await fresh.json<RpcAnswer>()).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('another protocol version') }],
    });
    expect((await old.json<RpcAnswer>()).error).toEqual(refusal);
  });
});

describe('a body that is not UTF-8', () => {
  const bytes = (text: string, hole: readonly number[]) => {
    const [before = '', after = ''] = text.split('HOLE');
    return new Uint8Array([
      ...new TextEncoder().encode(before),
      ...hole,
      ...new TextEncoder().encode(after),
    ]);
  };
  const HOLES = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf4, 0x90, 0x80, 0x80]];

  it.each(HOLES)('[MCP-1] [SEC-4] is refused, however it is sent: %#', async (...hole) => {
    const call = JSON.stringify(
      legacy('tools/call', { name: 'rev.echo', arguments: { a: 'HOLE' } }),
    );
    const rest = JSON.stringify({ name: 'rev.echo', arguments: { a: 'HOLE' } });
    for (const [path, text] of [
      ['/mcp', call],
      ['/api/v1/tools/call', rest],
    ] as const) {
      const body = bytes(text, hole);
      for (const sent of [body, new Blob([body]).stream()]) {
        const response = await portico.fetch(path, {
          method: 'POST',
          headers: HEADERS,
          body: sent,
        });
        expect([path, response.status]).toEqual([path, 400]);
      }
    }
    expect(server.of('tools/call')).toEqual([]);
  });

  it('[MCP-7] is distinguished from one with a replacement character, a byte order mark or any letter', async () => {
    for (const text of ['\ufffd', 'é', '\u{1f600}', '\ufeff']) {
      const body = JSON.stringify(legacy('tools/call', { name: 'rev.echo', arguments: { text } }));
      for (const sent of [body, `\ufeff${body}`]) {
        const response = await portico.post(sent, { headers: WHOLE });
        const answer = await response.json<RpcAnswer>();
        expect(answer.result?.content?.[0]?.text).toBe(JSON.stringify({ text }));
      }
    }
  });
});
