/**
 * A modern upstream in the test's own process that serves only requests with the right key, or with an access token of its own token
 * endpoint. Counts refused requests. Bound to loopback; `close` ends it with all its connections.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '../../fixtures/serve.ts';

export interface KeyedUpstream {
  origin: string;
  /** Requests without the right key. */
  refused: number;
  /** Access tokens issued. */
  tokens: string[];
  close(): Promise<void>;
}

const base = { resultType: 'complete', ttlMs: 1_000, cacheScope: 'private' };
const RESULTS: Readonly<Record<string, object>> = {
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'served' }] },
};

/**
 * @param key value of `X-Key` that is served
 * @param secret client secret that gets an access token at `/token`
 */
export async function startKeyed(key: string, secret: string): Promise<KeyedUpstream> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream: KeyedUpstream = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused: 0,
    tokens: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    const json = (status: number, body: object) =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(body));
    const { authorization = '', 'x-key': given } = request.headers;
    if (request.url === '/token') {
      const [, shown = ''] = Buffer.from(authorization.slice(6), 'base64').toString().split(':');
      if (decodeURIComponent(shown) !== secret) return json(401, { error: 'invalid_client' });
      const token = `access-${randomUUID()}`;
      upstream.tokens.push(token);
      return json(200, { access_token: token, token_type: 'Bearer', expires_in: 600 });
    }
    if (given !== key && !upstream.tokens.includes(authorization.slice('Bearer '.length))) {
      upstream.refused += 1;
      return json(401, {});
    }
    const { id, method } = JSON.parse(text) as { id: unknown; method: string };
    const result = RESULTS[method];
    if (result) return json(200, { jsonrpc: '2.0', id, result: { ...base, ...result } });
    json(404, { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } });
  }
  return upstream;
}
