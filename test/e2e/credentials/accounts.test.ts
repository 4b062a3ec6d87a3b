/** Two people at one server built with the SDK, each under their own name: with the terminal, the page, and clients of both SDKs. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { createCookieBrowser } from '../support/cookie-browser.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';

const USERS = new Map([
  ['Bearer token-of-ada-at-github', 'ada-gh'],
  ['Bearer token-of-bob-at-github', 'bob-gh'],
]);
const seen = new Set<string>();
let github: Server;
let gateway: Gateway;
let serverId = '';
const tokens: Record<string, string> = {};

/** Starts a server that returns its caller's name, offers Ada more tools, and refuses unknown callers. */
async function startGithub(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const header = request.headers.authorization ?? '';
    seen.add(header);
    const user = USERS.get(header);
    if (user === undefined) return void response.writeHead(401).end();
    const mcp = new McpServer({ name: 'github', version: '1.0.0' });
    mcp.registerTool('whoami', { description: 'Who calls' }, () => ({
      content: [{ type: 'text', text: user }],
    }));
    if (user === 'ada-gh') {
      mcp.registerTool('drop', { description: 'Drops a repository' }, () => ({
        content: [{ type: 'text', text: 'dropped' }],
      }));
    }
    const transport = new StreamableHTTPServerTransport({});
    await mcp.connect(transport as Transport);
    await transport.handleRequest(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

beforeAll(async () => {
  [github, gateway] = await Promise.all([startGithub(), startGateway()]);
  const url = `http://127.0.0.1:${(github.address() as AddressInfo).port}/mcp`;
  const body = {
    name: 'github',
    transport_type: 'HTTP',
    connection_config: { url },
    accounts: 'per_principal',
  };
  serverId = String((await gateway.api('POST', '/api/v1/aggregator/servers', body)).json['id']);
  for (const name of ['Ada', 'Bob', 'Eve'])
    tokens[name] = (await gateway.createToken({ name })).token;
});
afterAll(async () => {
  await gateway?.stop();
  github?.close();
});

const portico = (name: string, words: string, input = '') =>
  runPortico(['accounts', ...words.split(' ')], {
    env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: tokens[name] ?? gateway.adminToken },
    input,
  });
const CLIENTS = {
  async one(token: string) {
    const client = new Client1({ name: 'e2e', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new Http1(new URL('/mcp', gateway.origin), { requestInit });
    await client.connect(transport as Transport);
    return client;
  },
  async two(token: string) {
    const client = new Client2({ name: 'e2e', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new Http2(new URL('/mcp', gateway.origin), { requestInit }));
    return client;
  },
};
async function whoami(name: string, by: keyof typeof CLIENTS): Promise<string> {
  const client = await CLIENTS[by](tokens[name] ?? '');
  const { content } = await client.callTool({ name: 'github.whoami', arguments: {} });
  await client.close();
  return (content as { text: string }[])[0]?.text ?? '';
}

it('[UP-4] [ACC-8] [OPS-8] each calls under their own name, and a person without an account is told where to connect one', async () => {
  const before = await gateway.api('GET', `/api/v1/aggregator/servers/${serverId}`);
  expect(before.json['status']).not.toBe('CONNECTED');
  const made = await portico('Ada', 'connect github', 'token-of-ada-at-github\n');
  expect([made.code, made.err]).toEqual([
    0,
    "connected; calls of 'Ada' to github use this account\n",
  ]);
  // The first account reads its catalog.
  await until('it is connected', 60_000, async () => {
    const { json } = await gateway.api('GET', `/api/v1/aggregator/servers/${serverId}`);
    return json['status'] === 'CONNECTED' || undefined;
  });

  const link = /http:\S+/.exec(await whoami('Bob', 'two'))?.[0] ?? '';
  expect(link).toBe(`${gateway.origin}/connect/github`);
  const browser = createCookieBrowser();
  await browser.open(link);
  await browser.open(`${gateway.origin}/sign-in`, {
    code: tokens['Bob'] ?? '',
    return: '/connect/github',
  });
  const page = await browser.open(`${gateway.origin}/connect/github`, {
    token: 'token-of-bob-at-github',
  });
  expect(page.text).toContain('Connected');

  for (const by of ['one', 'two'] as const) {
    expect([await whoami('Ada', by), await whoami('Bob', by)]).toEqual(['ada-gh', 'bob-gh']);
    expect(await whoami('Eve', by)).toContain('account_required');
  }
  expect([...seen].toSorted()).toEqual(['', ...USERS.keys()].toSorted());
  const listed = await portico('Ada', 'list');
  expect(listed.out).toMatch(/^ID .*\n\S+ +github +Ada +\S+\n$/);
  expect((await portico('', 'list')).out.split('\n')).toHaveLength(4);
  expect(`${made.out}${listed.out}`).not.toContain('token-of-ada');

  const id = made.out.trim();
  expect((await portico('Bob', `remove ${id}`)).code).not.toBe(0);
  expect((await portico('Ada', `remove ${id}`)).code).toBe(0);
  expect(await whoami('Ada', 'two')).toContain('account_required');
  expect(await whoami('Bob', 'one')).toBe('bob-gh');
  const empty = await portico('Ada', 'connect github', '');
  expect([empty.code, empty.err]).toEqual([
    2,
    expect.stringContaining('no value on standard input'),
  ]);
});

it('[UP-4] [ACC-8] each is listed and can call what the server shows to their own account', async () => {
  const listed = async (name: string, by: keyof typeof CLIENTS) => {
    const client = await CLIENTS[by](tokens[name] ?? '');
    const { tools } = await client.listTools();
    const call = client.callTool({ name: 'github.drop', arguments: {} });
    const answer = await call.then(
      ({ content }) => (content as { text: string }[])[0]?.text ?? '',
      (thrown: unknown) => String(thrown),
    );
    await client.close();
    return { tools: tools.map(tool => tool.name).toSorted(), answer };
  };
  // From now on a credential that sees everything reads the catalog.
  const auth = { type: 'bearer', token: 'token-of-ada-at-github' };
  const body = { connection_config: { auth }, tool_approval: 'trust' };
  const path = `/api/v1/aggregator/servers/${serverId}`;
  expect((await gateway.api('PATCH', path, body)).status).toBe(200);
  const made = await portico('Ada', 'connect github', 'token-of-ada-at-github\n');
  expect(made.code).toBe(0);
  await until('the catalog is whole', 20_000, async () => {
    const { tools } = await listed('Ada', 'two');
    return tools.length === 2 || undefined;
  });
  for (const by of ['one', 'two'] as const) {
    const bob = await until('the lists of his account are read', 20_000, async () => {
      const found = await listed('Bob', by);
      return found.tools.length === 1 ? found : undefined;
    });
    expect(bob.tools).toEqual(['github.whoami']);
    expect(bob.answer).toMatch(/not found/i);
    const ada = { tools: ['github.drop', 'github.whoami'], answer: 'dropped' };
    expect(await listed('Ada', by)).toEqual(ada);
  }
});
