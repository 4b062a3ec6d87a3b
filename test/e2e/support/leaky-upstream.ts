/**
 * A modern upstream in the test's own process that leaks everything it receives: its errors repeat the headers and arguments of the
 * request. Bound to loopback; `close` ends it with all its connections.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '../../fixtures/serve.ts';

export interface LeakyUpstream {
  origin: string;
  /** All headers and bodies received. */
  received: string[];
  close(): Promise<void>;
}

const base = { resultType: 'complete', ttlMs: 1_000, cacheScope: 'private' };
const secret = { type: 'string', writeOnly: true };
const tools = ['quiet', 'status', 'page', 'rpc', 'hang-up'].map(name => ({
  name,
  inputSchema: {
    type: 'object',
    properties: { password: { type: 'string' }, pin: secret, note: { type: 'string' } },
  },
}));
const RESULTS: Readonly<Record<string, object>> = {
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
  'tools/list': { tools },
};

/** Starts it. */
export async function startLeaky(): Promise<LeakyUpstream> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    const told = `${JSON.stringify(request.headers)} ${text}`;
    received.push(told);
    const json = (status: number, body: object) =>
      void response
        .writeHead(status, { 'content-type': 'application/json', 'x-told': encodeURI(told) })
        .end(JSON.stringify(body));
    const message = JSON.parse(text) as { id: unknown; method: string; params?: { name?: string } };
    const reply = (more: object) => json(200, { jsonrpc: '2.0', id: message.id, ...more });
    if (message.method === 'initialize') return json(400, {});
    const known = RESULTS[message.method];
    if (known) return reply({ result: { ...base, ...known } });
    switch (message.params?.name) {
      case 'status':
        return json(500, { error: told });
      case 'page':
        return void response.writeHead(502, { 'content-type': 'text/html' }).end(`<p>${told}</p>`);
      case 'rpc':
        return reply({ error: { code: -32_000, message: JSON.stringify(request.headers) } });
      case 'hang-up':
        return void response.destroy();
      default:
        return reply({ result: { ...base, content: [{ type: 'text', text: 'done' }] } });
    }
  }

  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
