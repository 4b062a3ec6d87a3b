/**
 * What the aggregator stories require beside their examples, line by line (`test/source-documents/examples.ts`): encryption, tokens,
 * uptime.
 */
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { readBody } from '../../fixtures/serve.ts';
import { NEED_LINES, type NeedLine } from '../../source-documents/examples.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';

const SOON_MS = 60_000;
const SERVERS = '/api/v1/aggregator/servers';
const TOKEN_SECONDS = 10;
const TLS_1_2 = 0x0303;
const CLIENT_HELLO = 1;
const SUPPORTED_VERSIONS = 43;

let gateway: Gateway;
let upstream: Upstream;
const servers: Server[] = [];

beforeAll(async () => {
  upstream = await startFixture('moody');
  gateway = await startGateway({ env: { PORTICO_HEALTH_INTERVAL_MS: '500' } });
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  for (const server of servers) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Returns the TLS versions that the first record of a connection offers (RFC 8446, 4.1.2 and 4.2.1). */
function offeredVersions(record: Buffer): number[] {
  if (record[5] !== CLIENT_HELLO) throw new Error('that is no hello of a client');
  let at = 5 + 4 + 2 + 32;
  at += 1 + record.readUInt8(at);
  at += 2 + record.readUInt16BE(at);
  at += 1 + record.readUInt8(at) + 2;
  while (at < record.length) {
    const [type, size] = [record.readUInt16BE(at), record.readUInt16BE(at + 2)];
    const data = record.subarray(at + 4, at + 4 + size);
    if (type === SUPPORTED_VERSIONS) {
      const versions = Array.from({ length: data.readUInt8(0) / 2 }, (_, n) =>
        data.readUInt16BE(1 + 2 * n),
      );
      // Reserved values that stand for no version, to keep servers tolerant (RFC 8701).
      return versions.filter(version => (version & 0x0f0f) !== 0x0a0a);
    }
    at += 4 + size;
  }
  return [record.readUInt16BE(9)];
}

/** Returns the first bytes that the gateway sends to a server at an `https:` address. */
async function firstWords(transport: string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', data => (resolve(data), socket.destroy()));
  });
  const url = `https://127.0.0.1:${await portOf(server)}/${transport}`;
  const name = `tls-${transport}`;
  const config = { name, transport_type: transport, connection_config: { url } };
  expect((await gateway.api('POST', SERVERS, config)).status).toBe(201);
  return promise;
}

interface Guarded {
  url: string;
  token_url: string;
  /** Tokens that were used while they were valid. */
  used: Set<string>;
  /** Counts requests with an expired token, or with none. */
  refused(): number;
}

/** Starts a server in front of the fixture that issues its own tokens, valid for a few seconds each. */
async function startGuarded(): Promise<Guarded> {
  const issued = new Map<string, number>();
  const used = new Set<string>();
  let refused = 0;
  const server = createHttp(async (request, response) => {
    const body = await readBody(request);
    const json = { 'content-type': 'application/json' };
    if (request.url === '/token') {
      const token = `token-${issued.size}`;
      issued.set(token, Date.now());
      const grant = { access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECONDS };
      return void response.writeHead(200, json).end(JSON.stringify(grant));
    }
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (Date.now() - (issued.get(token) ?? 0) > TOKEN_SECONDS * 1_000) {
      refused += 1;
      return void response.writeHead(401).end();
    }
    used.add(token);
    const { method = '' } = request;
    const init = method === 'POST' ? { method, body, headers: json } : { method };
    const answer = await fetch(`${upstream.origin}/mcp`, init);
    response.writeHead(answer.status, json).end(await answer.text());
  });
  const origin = `http://127.0.0.1:${await portOf(server)}`;
  return { url: `${origin}/mcp`, token_url: `${origin}/token`, used, refused: () => refused };
}

const metric = async (server: string) => {
  const { text } = await gateway.api('GET', '/metrics');
  return text.split('\n').find(line => line.startsWith(`portico_server_up{server="${server}"`));
};

const shows: Record<NeedLine, () => void | Promise<void>> = {
  async S31() {
    for (const transport of ['HTTP', 'SSE']) {
      const url = 'http://mcp.example.com/mcp';
      const plain = { name: 'plain', transport_type: transport, connection_config: { url } };
      const { status, text } = await gateway.api('POST', SERVERS, plain);
      expect([status, text]).toEqual([422, expect.stringContaining('https')]);
      const versions = offeredVersions(await firstWords(transport));
      expect(Math.min(...versions)).toBeGreaterThanOrEqual(TLS_1_2);
    }
  },
  async S32() {
    const { url, token_url, used, refused } = await startGuarded();
    const auth = { type: 'client_credentials', client_id: 'a', client_secret: 'b', token_url };
    const connection_config = { url, auth };
    await gateway.register('guarded', url, { connection_config });
    await until('a third token is used', SOON_MS, async () => {
      const { status } = await gateway.api('POST', '/api/v1/tools/call', { name: 'guarded.act' });
      if (status !== 200) throw new Error(`a call is answered ${status}`);
      return used.size > 2 ? true : undefined;
    });
    expect(refused()).toBe(0);
  },
  async S33() {
    const { id } = await gateway.register('watched', `${upstream.origin}/mcp`);
    expect(await metric('watched')).toMatch(/ 1$/u);
    await upstream.counters('?mood=503');
    await gateway.waitFor(id, 'ERROR');
    expect(await metric('watched')).toMatch(/ 0$/u);
    await upstream.counters('?mood=fine');
  },
};

it.each(NEED_LINES.map(({ id, says }) => [id, says] as const))(
  '[SEC-3] [UP-4] [OPS-2] %s: %s',
  async id => {
    expect.hasAssertions();
    await shows[id]();
  },
);
