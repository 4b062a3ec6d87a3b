/** More than a thousand tools over ten servers: listed completely, without a request to any upstream. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { QUIET, startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { listAllTools, open, textOf } from '../support/raw-client.ts';
import { clients } from '../support/sdk-clients.ts';

const SERVERS = 10;
const TOOLS = 120;
const serverNames = Array.from({ length: SERVERS }, (_, index) => `server-${index}`);
let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([
    startFixture('many-tools', { tools: TOOLS, page: 30 }),
    startGateway({ env: QUIET }),
  ]);
  await Promise.all(
    serverNames.map(name => gateway.register(name, `${upstream.origin}/${name}/mcp`)),
  );
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const expected = serverNames.flatMap(name =>
  Array.from({ length: TOOLS }, (_, index) => `${name}.tool-${String(index).padStart(4, '0')}`),
);

describe.each(['legacy', 'modern'] as const)('%s client', era => {
  it('[MCP-12] [REG-5] [UP-5] lists 1,200 tools complete, once each, and asks no upstream', async () => {
    const before = await upstream.counters();
    const client = await open(era, { url: `${gateway.origin}/mcp`, token: gateway.adminToken });
    const names = (await listAllTools(client)).map(tool => tool.name);
    expect(names.toSorted()).toEqual(expected);
    expect((await listAllTools(client)).map(tool => tool.name)).toEqual(names);
    expect(await upstream.counters()).toEqual(before);
  });

  it('[MCP-4] refuses a cursor it never gave', async () => {
    const client = await open(era, { url: `${gateway.origin}/mcp`, token: gateway.adminToken });
    const answer = await client.request('tools/list', { cursor: 'never-given' });
    expect(answer.message.error?.code).toBe(-32602);
  });
});

it('[MCP-12] [REG-7] [AG-US2-AC5] shows the same to SDK clients and over REST', async () => {
  const before = await upstream.counters();
  const target = { url: `${gateway.origin}/mcp`, token: gateway.adminToken };
  // SDK 1 reads one page only.
  for (const name of ['SDK 2.x auto', 'SDK 1.x'] as const) {
    const client = await clients[name](target);
    expect((await client.listTools()).map(tool => tool.name).toSorted()).toEqual(expected);
    await client.close();
  }
  const { json } = await gateway.api('GET', '/api/v1/tools');
  expect(json['total']).toBe(SERVERS * TOOLS);
  expect(await upstream.counters()).toEqual(before);
});

it('[MCP-3] [MCP-8] calls the last tool of the last server', async () => {
  const client = await open('modern', { url: `${gateway.origin}/mcp`, token: gateway.adminToken });
  expect(textOf(await client.call('server-9.tool-0119'))).toBe('tool-0119');
});
