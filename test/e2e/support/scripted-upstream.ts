/**
 * An upstream in the test's own process that answers each tool call with exactly the given bytes. Correct in everything else, in either
 * era, so that a misbehaving server can be discovered first. Has no sessions. Bound to loopback; `close` ends it with all its connections.
 */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { pipeline, Readable } from 'node:stream';
import type { AddressInfo } from 'node:net';
import { readBody } from '../../fixtures/serve.ts';
import { memberAt } from '../../fixtures/raw-json.ts';
import type { Era } from './raw-client.ts';

/** A call as received: the id and the raw text of its arguments. */
export interface ScriptedCall {
  id: number;
  name: string;
  argumentsText: string;
  arguments: Record<string, unknown>;
}

export interface ScriptedAnswer {
  type?: 'application/json' | 'text/event-stream';
  status?: number;
  /** Pieces are written as fast as they are read. */
  body: string | Uint8Array | Iterable<string | Uint8Array>;
}

export interface ScriptedUpstream {
  url: string;
  /** How often a tool was called. */
  calls(): number;
  close(): Promise<void>;
}

/** JSON text of a response whose result is the given text. */
export const resultText = (id: number, result: string): string =>
  `{"jsonrpc":"2.0","id":${id},"result":${result}}`;

/** Starts an upstream with these tools (or other members of its lists). */
export async function startScripted(
  era: Era,
  lists: Readonly<Record<string, { member: string; items: object[] }>>,
  answer: (call: ScriptedCall) => ScriptedAnswer | Promise<ScriptedAnswer>,
  self: { name?: string; instructions?: string } = {},
): Promise<ScriptedUpstream> {
  let calls = 0;
  const modern = { resultType: 'complete', ttlMs: 1_000, cacheScope: 'private' };
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  const base = era === 'modern' ? modern : {};
  const { name = 'scripted', instructions } = self;
  const about = { serverInfo: { name, version: '1' }, ...(instructions && { instructions }) };

  const listener = (text: string, response: ServerResponse): void => {
    const send = ({ type = 'application/json', status = 200, body }: ScriptedAnswer): void => {
      response.writeHead(status, { 'content-type': type });
      if (typeof body === 'string' || body instanceof Uint8Array) return void response.end(body);
      // A client that disconnects needs no more of it.
      pipeline(Readable.from(body), response, () => {});
    };
    const {
      id,
      method,
      params = {},
    } = JSON.parse(text) as {
      id: number;
      method: string;
      params?: Record<string, unknown>;
    };
    const give = (result: object) => send({ body: resultText(id, JSON.stringify(result)) });
    if (id === undefined) return void response.writeHead(202).end();
    const list = lists[method];
    if (list) return void give({ ...base, [list.member]: list.items });
    if (method === 'tools/call') {
      calls += 1;
      const argumentsText = memberAt(text, 'params', 'arguments') ?? '{}';
      const given = (params['arguments'] ?? {}) as Record<string, unknown>;
      const call = { id, name: String(params['name']), argumentsText, arguments: given };
      return void Promise.resolve(answer(call)).then(send);
    }
    if (era === 'modern' && method === 'server/discover') {
      return void give({ ...base, supportedVersions: ['2026-07-28'], capabilities, ...about });
    }
    if (era === 'legacy' && method === 'initialize') {
      return void give({ protocolVersion: '2025-11-25', capabilities, ...about });
    }
    const error = { code: -32601, message: 'Method not found' };
    const status = era === 'modern' ? 404 : 200;
    return void send({ status, body: JSON.stringify({ jsonrpc: '2.0', id, error }) });
  };

  // In a modern request a name of any length is also in a header.
  const server = createServer({ maxHeaderSize: 1_048_576 }, (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    readBody(request).then(
      text => listener(text, response),
      () => response.destroy(),
    );
  }).listen(0, '127.0.0.1');
  // A gateway may have hundreds of connections to it; a connection closed just as it is reused would be a failure of the test itself.
  server.keepAliveTimeout = 600_000;
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls: () => calls,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
