/** The Host header of a request, as sent on the wire: malformed, duplicated, missing, of another machine. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ env: QUIET });
});
afterAll(() => gateway?.stop());

/** Sends bytes unchanged. @returns the response's status and text */
function send(lines: readonly string[]): Promise<{ status: number; text: string }> {
  const { port } = new URL(gateway.origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', data => (text += data));
    socket.on('error', reject);
    socket.on('close', () =>
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/u.exec(text)?.[1] ?? 0), text }),
    );
    socket.end(`${[...lines, 'connection: close'].join('\r\n')}\r\n\r\n`);
  });
}

const PATHS = [
  '/health',
  '/health/live',
  '/health/ready',
  '/connect',
  '/mcp',
  '/mcp/servers/a',
  '/sse',
  '/messages',
  '/docs',
  '/openapi.json',
  '/api/v1/tools',
  '/no/such/route',
];

const authorization = () => `authorization: Bearer ${gateway.adminToken}`;

const MALFORMED = [
  'a b',
  '127.0.0.1:port',
  '127.0.0.1:99999',
  '[::1',
  'user@127.0.0.1',
  '127.0.0.1/mcp',
  '127.0.0.1?x',
  '127.0.0.1#x',
  '%',
  '<script>',
  'exa\\mple',
  '256.256.256.256.256',
];

describe('a Host header', () => {
  it.each(MALFORMED)('[SEC-5] that is malformed gets 4xx on every route: %j', async host => {
    const statuses = new Set<string>();
    for (const path of PATHS) {
      const { status } = await send([`GET ${path} HTTP/1.1`, `host: ${host}`, authorization()]);
      if (status !== 400 && status !== 403) statuses.add(`${path} ${status}`);
    }
    expect([...statuses]).toEqual([]);
  });

  it('[SEC-5] that occurs twice gets 400 on every route', async () => {
    const { host } = new URL(gateway.origin);
    const wrong: string[] = [];
    for (const path of PATHS) {
      for (const second of [host, 'evil.example', '']) {
        const { status } = await send([
          `GET ${path} HTTP/1.1`,
          `host: ${host}`,
          `host: ${second}`,
          authorization(),
        ]);
        if (status !== 400) wrong.push(`${path} ${second} ${status}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('[SEC-5] that is missing or empty gets 400', async () => {
    for (const lines of [['GET /health HTTP/1.1'], ['GET /health HTTP/1.1', 'host:']]) {
      expect((await send(lines)).status).toBe(400);
    }
  });

  it.each(['evil.example', '127.0.0.1.evil.example', '10.0.0.1', 'localhost.evil.example:80'])(
    '[SEC-5] of another machine is refused the same on every route: %s',
    async host => {
      const seen: unknown[] = [];
      for (const path of PATHS) {
        const { status } = await send([`GET ${path} HTTP/1.1`, `host: ${host}`, authorization()]);
        if (status !== 403) seen.push([path, status]);
      }
      expect(seen).toEqual([]);
    },
  );

  it('[SEC-5] of this machine passes', async () => {
    const { port } = new URL(gateway.origin);
    for (const host of [
      '127.0.0.1',
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      'LOCALHOST',
      '[::1]',
    ]) {
      const { status } = await send(['GET /health HTTP/1.1', `host: ${host}`]);
      expect([host, status]).toEqual([host, 200]);
    }
  });

  it('[SEC-5] decides, even if the request line has an address', async () => {
    const { host } = new URL(gateway.origin);
    const { status } = await send([`GET http://evil.example/health HTTP/1.1`, `host: ${host}`]);
    expect(status).toBe(200);
  });
});
