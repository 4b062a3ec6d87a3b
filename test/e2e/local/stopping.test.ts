/**
 * How a gateway on one machine stops: it answers running requests, accepts no new ones, and does not wait after a second signal. Nobody
 * without the key of the start can stop it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { openOldStream } from '../support/old-stream.ts';
import { endGateway, makeToken, spawnStart, withoutSettings } from '../support/gateway.ts';
import { COMPILE_CACHE, MAIN } from '../support/portico-command.ts';

const WAIT_MS = 60_000;

let folder: string;
let upstream: HoldingUpstream;

/** A server whose tool `hold` answers when the test releases it. */
interface HoldingUpstream {
  url: string;
  /** Resolves when a call of it has arrived. */
  held(): Promise<unknown>;
  /** Makes the arrived call answer. */
  release(): void;
  close(): void;
}

interface Asked {
  id?: number;
  method: string;
  params?: { arguments?: { hold?: boolean } };
}

async function startHolding(): Promise<HoldingUpstream> {
  let come = Promise.withResolvers<void>();
  let gate = Promise.withResolvers<void>();
  const tools = [{ name: 'hold', inputSchema: { type: 'object' } }];
  const protocolVersion = '2025-11-25';
  const opened = {
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'h', version: '1' },
  };
  const toResult = async ({ method, params }: Asked) => {
    if (method === 'initialize') return opened;
    if (method === 'tools/list') return { tools };
    if (method !== 'tools/call') return {};
    if (params?.arguments?.hold) {
      come.resolve();
      await gate.promise;
    }
    return { content: [{ type: 'text', text: 'held' }] };
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(await text(request)) as Asked;
    const { id, method } = message;
    if (id === undefined) return void response.writeHead(202).end();
    const status = method === 'server/discover' ? 400 : 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    const error = { code: -32_601, message: 'Method not found' };
    const said = status === 400 ? { error } : { result: await toResult(message) };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    held: () => come.promise,
    release() {
      gate.resolve();
      come = Promise.withResolvers<void>();
      gate = Promise.withResolvers<void>();
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-stopping-'));
  upstream = await startHolding();
  const mcpServers = { web: { url: upstream.url } };
  await writeFile(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }));
});
afterAll(async () => {
  upstream?.close();
  await rm(folder, { recursive: true, force: true });
});

const post = (url: string, token: string, body: object) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const call = (origin: string, token: string, hold = false) =>
  post(`${origin}/api/v1/tools/call`, token, { name: 'web.hold', arguments: { hold } });

/** Starts a call; resolves when it is running at the server. */
async function callHeld(origin: string, token: string) {
  const answer = call(origin, token, true).then(
    response => response.text(),
    (error: unknown) => `broke off: ${String(error)}`,
  );
  await upstream.held();
  return { answer };
}

const ask = (method: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

const LIST = ask('tools/list');
const LISTEN = ask('subscriptions/listen', { notifications: { toolsListChanged: true } });

/** Simulates a client that resets its connection after a part of a message is written. @param bytes of the message; default: all */
async function breakOff(
  { origin, token }: { origin: string; token: string },
  path: string,
  message = LIST,
  bytes?: number,
) {
  const body = JSON.stringify(message);
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  await once(socket, 'connect');
  const head = [
    `POST ${new URL(path, origin).href.slice(origin.length)} HTTP/1.1`,
    `Host: ${new URL(origin).host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    `Mcp-Method: ${message.method}`,
    `Content-Length: ${body.length}`,
  ];
  const sent = `${head.join('\r\n')}\r\n\r\n${body.slice(0, bytes)}`;
  await new Promise(resolve => socket.write(sent, resolve));
  socket.resetAndDestroy();
}

/** What each command prints when it is ready. */
const READY = { 'npm start': 'Ctrl-C stops', 'portico up': 'ready: ' };

/** Starts a gateway with a command, and waits until its server is connected. */
async function start(way: 'npm start' | 'portico up', more: Record<string, string> = {}) {
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const data = await mkdtemp(join(folder, 'data-'));
  const token = makeToken();
  const config = ['--config', join(folder, 'mcp.json'), '--data', data, '--port', String(port)];
  const env = { PORTICO_ADMIN_TOKEN: token, ...more };
  const run =
    way === 'npm start' ? spawnStart([...config, '--no-demo'], env) : spawnUp(config, env);
  await until('it is ready', 2 * WAIT_MS, async () => {
    const { ok } = await call(origin, token);
    return (ok && run.output().includes(READY[way])) || undefined;
  });
  return { ...run, origin, token, data };
}

function spawnUp(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN, 'up', ...args], {
    env: { ...withoutSettings(process.env), ...COMPILE_CACHE, ...env },
    cwd: folder,
  });
  let said = '';
  child.stdout.on('data', chunk => (said += String(chunk)));
  child.stderr.on('data', chunk => (said += String(chunk)));
  return { child, output: () => said };
}

it('[OPS-3] [SEC-9] counts nothing for a client whose connection was reset, and does not wait for it', async () => {
  const gateway = await start('npm start');
  const { child, output, origin, token } = gateway;
  const stream = await openOldStream(origin, token);
  for (const path of ['/mcp', '/api/v1/tools/call', stream.url]) {
    for (let n = 0; n < 10; n += 1) await breakOff(gateway, path, LIST, 8);
    // Some of the resets hit while the gateway is about to answer.
    for (let n = 0; n < 40; n += 1) await breakOff(gateway, path);
  }
  for (let n = 0; n < 40; n += 1) await breakOff(gateway, '/mcp', LISTEN);
  stream.close();
  await until('no stream is counted as open', WAIT_MS, async () => {
    const headers = { authorization: `Bearer ${token}` };
    const metrics = await (await fetch(`${origin}/metrics`, { headers })).text();
    return /^portico_open_streams 0$/m.test(metrics) || undefined;
  });
  // This response is sent after all resets.
  expect((await call(origin, token)).status).toBe(200);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  expect(output()).not.toContain('waiting for');
});

describe.each(['npm start', 'portico up'] as const)('%s', way => {
  it('[OPS-3] [REG-3] answers running requests when it is told to stop, and starts no new ones', async () => {
    const { child, output, origin, token } = await start(way);
    const { answer } = await callHeld(origin, token);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await until('it says what it waits for', WAIT_MS, async () =>
      output().includes('waiting for 1 running request') ? true : undefined,
    );
    const refused = await post(`${origin}/mcp`, token, { jsonrpc: '2.0', id: 1, method: 'ping' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await refused.text()).toContain('The gateway is stopping');
    upstream.release();
    expect(await answer).toContain('"content"');
    expect((await ended)[0]).toBe(0);
    await expect(fetch(`${origin}/health`)).rejects.toThrow('fetch failed');
  });

  it('[OPS-3] ends at once on a second signal', async () => {
    const { child, output, origin, token } = await start(way);
    const { answer } = await callHeld(origin, token);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await until('it waits', WAIT_MS, async () => output().includes('waiting for 1') || undefined);
    child.kill('SIGTERM');
    await ended;
    expect(await answer).toContain('broke off');
    upstream.release();
  });
});

it('[OPS-3] waits for running requests after a Ctrl-C that npm sends on', async () => {
  const { child, output, origin, token } = await start('npm start', {
    npm_lifecycle_event: 'start',
  });
  const { answer } = await callHeld(origin, token);
  const ended = once(child, 'exit');
  // The terminal sends it to npm and to the script, and npm to the script once more.
  child.kill('SIGINT');
  // Not by a timer, which other work of this process could delay.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  child.kill('SIGINT');
  await until('it waits', WAIT_MS, async () => output().includes('waiting for 1') || undefined);
  upstream.release();
  expect(await answer).toContain('"content"');
  expect((await ended)[0]).toBe(0);
});

it('[SEC-4] [OPS-3] cannot be stopped by a request from others', async () => {
  const { child, origin, token, data } = await start('npm start');
  for (const key of ['', 'x', token]) {
    const headers = { authorization: `Bearer ${token}`, 'portico-drain': key };
    const response = await fetch(`${origin}/local/drain`, { method: 'POST', headers });
    const unknown = await fetch(`${origin}/local/nothing`, { method: 'POST', headers });
    expect([response.status, unknown.status]).toEqual([404, 404]);
  }
  expect((await call(origin, token)).status).toBe(200);
  expect(await readFile(join(data, 'secrets.json'), 'utf8')).not.toContain('drain');
  await endGateway(child);
});
