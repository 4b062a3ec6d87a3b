/**
 * Through the gateway, with a program of npm and one that asks as Angular's does: clients of both eras with roots are asked for them, a
 * client that cannot be asked gets the answer without roots, and no call is made twice.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  connectPrograms,
  fixtureProgram,
  packageProgram,
  type Connected,
} from '../support/connected.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';

const TIME_MS = 300_000;
let gateway: Gateway;
let connected: Connected;

beforeAll(async () => {
  gateway = await startGateway();
  connected = await connectPrograms(gateway, 'desk', {
    odd: fixtureProgram('odd-stdio.ts'),
    everything: packageProgram('@modelcontextprotocol/server-everything/dist/index.js', 'stdio'),
  });
}, TIME_MS);

afterAll(async () => {
  await connected?.end('SIGTERM');
  await gateway?.stop();
});

/** Connects a client with roots. */
async function connectRooted(mode: 'auto' | 'legacy') {
  const client = new Client(
    { name: 'rooted', version: '1.0.0' },
    { capabilities: { roots: {} }, versionNegotiation: { mode } },
  );
  let asked = 0;
  client.setRequestHandler('roots/list', () => {
    asked += 1;
    return { roots: [{ uri: 'file:///mine', name: 'mine' }] };
  });
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  const url = new URL(`${gateway.origin}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const call = async (name: string) => JSON.stringify(await client.callTool({ name }));
  return { call, asked: () => asked, close: () => client.close() };
}

/** Makes one call over REST, whose caller cannot be asked. */
const callPlain = async (name: string) =>
  (await gateway.api('POST', '/api/v1/tools/call', { name })).text;

it.each(['legacy', 'auto'] as const)(
  '[CLI-1] [MCP-4] [MCP-5] a %s client with roots is asked, one without gets the answer without',
  async mode => {
    const client = await connectRooted(mode);
    expect(await client.call('odd.projects')).toContain('file:///mine');
    expect(client.asked()).toBe(1);
    expect(await callPlain('odd.projects')).toContain('in its own folder');
    // This program registers the tool only for clients with roots.
    expect(await client.call('everything.get-roots-list')).toContain('file:///mine');
    expect(await callPlain('everything.get-roots-list')).toContain('get-roots-list not found');
    expect(await callPlain('everything.get-sum')).not.toContain('not found');
    await client.close();
  },
  TIME_MS,
);
