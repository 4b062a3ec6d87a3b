/** The public listener, in front of a Worker that the test simulates: what is passed on, when, and how often. */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { parseProxies } from '../../../local/client-address.ts';
import { startListener, type Listener } from '../../../local/public-listener.ts';
import { until } from '../../fixtures/start-fixture.ts';
import { ask } from '../support/team-gateway.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const ORIGIN = 'https://mcp.example.com';
const headers = { host: 'mcp.example.com' };
const WAIT_MS = 30_000;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function listen(port: number): Promise<Listener & { url: string }> {
  const options = { host: '127.0.0.1', port: 0, origin: ORIGIN, proxies: parseProxies('') };
  const target = `http://127.0.0.1:${port}`;
  const listener = await startListener({ ...options, perMinute: 0, target });
  ends.push(listener.close);
  return { ...listener, url: `http://127.0.0.1:${listener.port}/mcp` };
}

/** Starts a listener in front of a Worker with this answer. @returns it, with the requests that the Worker received */
async function stand(answer: Answer) {
  const asked: IncomingMessage[] = [];
  const worker = createServer((got, response) => {
    asked.push(got);
    answer(got, response);
  }).listen(0, '127.0.0.1');
  await once(worker, 'listening');
  ends.push(
    () => worker.close(),
    () => worker.closeAllConnections(),
  );
  const listener = await listen((worker.address() as AddressInfo).port);
  return { asked, worker, ...listener };
}

it('[OPS-5] [MCP-7] passes method, target, headers and body on unchanged', async () => {
  const { asked, url } = await stand((got, response) => {
    void text(got).then(body => response.writeHead(418, { 'x-answer': 'a' }).end(`got ${body}`));
  });
  const sent = { ...headers, 'Mcp-Name': 'n', 'content-type': 'application/json' };
  const got = await ask(`${url}?a=%2f&b`, { method: 'PUT', headers: sent, body: '{"a": 1.0}' });
  expect([got.status, got.headers['x-answer'], got.text]).toEqual([418, 'a', 'got {"a": 1.0}']);
  expect([asked[0]?.method, asked[0]?.url]).toEqual(['PUT', '/mcp?a=%2f&b']);
  expect(asked[0]?.rawHeaders).toEqual(expect.arrayContaining(['Mcp-Name', 'n']));
});

it('[OPS-5] [SEC-5] tells the Worker the address of the peer, whatever a client says of it', async () => {
  const { asked, url } = await stand((_, response) => response.end());
  await ask(url, { headers: { ...headers, 'cf-connecting-ip': '203.0.113.1' }, from: '127.0.0.7' });
  expect(asked[0]?.headersDistinct['cf-connecting-ip']).toEqual(['127.0.0.7']);
});

it('[OPS-5] [SEC-5] passes a body on as a body, although its length is named as a header of the connection', async () => {
  const { asked, url } = await stand((got, response) => {
    void text(got).then(body => response.end(`got ${body}`));
  });
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: mcp.example.com\r\n\r\n';
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  ends.push(() => socket.destroy());
  socket.write(
    `GET /mcp HTTP/1.1\r\nHost: mcp.example.com\r\nConnection: close, content-length, host\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  );
  expect(await text(socket)).toContain('got GET /hidden HTTP/1.1');
  expect(asked.map(({ url: path, headers: { host } }) => [path, host])).toEqual([
    ['/mcp', 'mcp.example.com'],
  ]);
});

it('[OPS-5] passes each event on as it comes', async () => {
  let more = () => {};
  const { url } = await stand((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: one\n\n');
    more = () => response.end('data: two\n\n');
  });
  const sent = request(url, { headers, agent: false }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  expect(String((await once(answer, 'data'))[0])).toBe('data: one\n\n');
  more();
  expect(await text(answer)).toBe('data: two\n\n');
});

it('[OPS-5] tells the Worker when a client disconnects, before the response and during it', async () => {
  for (const begins of [false, true]) {
    const hungUp = Promise.withResolvers<void>();
    const { asked, url } = await stand((_, response) => {
      response.on('close', () => response.writableFinished || hungUp.resolve());
      if (begins) response.write('begun');
    });
    const sent = request(url, { method: 'POST', headers, agent: false }).end('{}');
    sent.on('error', () => {});
    await until('it is asked', WAIT_MS, async () => (asked.length > 0 ? true : undefined));
    sent.destroy();
    await expect(hungUp.promise).resolves.toBeUndefined();
  }
});

it('[OPS-5] sends nothing twice, and reports it if the Worker closes the connection', async () => {
  const { asked, url } = await stand(got => void got.socket.destroy());
  for (let sent = 1; sent <= 20; sent++) {
    const got = await ask(url, { method: 'POST', headers, body: '{}' });
    expect([got.status, got.headers['retry-after']]).toEqual([503, '1']);
    expect(asked).toHaveLength(sent);
  }
});

it('[OPS-5] does not make a truncated response look complete', async () => {
  const { url } = await stand((got, response) => {
    response.write('half');
    setTimeout(() => got.socket.destroy(), 50);
  });
  await expect(ask(url, { headers })).rejects.toThrow(/aborted|hang up|ECONNRESET/u);
});

it('[OPS-5] reports that the gateway is not running', async () => {
  const { worker, url } = await stand(() => {});
  worker.close();
  await once(worker, 'close');
  const got = await ask(url, { headers });
  expect([got.status, JSON.parse(got.text)]).toMatchObject([503, { code: 'busy' }]);
});

it('[OPS-5] passes a WebSocket in both directions, and ends it with the gateway', async () => {
  const { worker, port, close } = await stand(() => {});
  worker.on('upgrade', (got, socket) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    socket.on('data', data => socket.write(`${got.url} echoes ${data}`));
    socket.on('error', () => {});
  });
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let read = '';
  socket.on('data', data => (read += String(data)));
  const lines = ['GET /connect HTTP/1.1', 'Host: mcp.example.com', 'Connection: Upgrade'];
  socket.write([...lines, 'Upgrade: websocket', '', 'first'].join('\r\n'));
  await until('it echoes', WAIT_MS, async () =>
    read.includes('/connect echoes') ? true : undefined,
  );
  expect(read).toMatch(/^HTTP\/1\.1 101 /u);
  const closed = once(socket, 'close');
  await close();
  await closed;
});

it('[OPS-5] answers a WebSocket that the Worker refuses, and one for another name', async () => {
  const { worker, port } = await stand(() => {});
  worker.on('upgrade', (_, socket) => {
    socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno');
  });
  for (const [host, status] of [
    ['mcp.example.com', 401],
    ['evil.example', 403],
  ] as const) {
    const upgrade = { host, connection: 'Upgrade', upgrade: 'websocket' };
    const got = await ask(`http://127.0.0.1:${port}/connect`, { headers: upgrade });
    expect(got.status).toBe(status);
  }
});
