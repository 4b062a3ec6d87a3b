/**
 * Tools of 2026-07-28 with clients of every kind: if older revisions do not allow something in one tool, clients still get the other tools,
 * and a client of 2026-07-28 gets everything unchanged.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { startGateway, TRUSTED, type Gateway } from '../support/gateway.ts';
import { clientNames, clients, type ClientName, type McpClient } from '../support/sdk-clients.ts';

const input = { type: 'object' };
const NUMBERS = { type: 'array', items: { type: 'number' } };
const TOOLS = [
  { name: 'plain', inputSchema: input },
  { name: 'numbers', inputSchema: input, outputSchema: NUMBERS },
  { name: 'anything', inputSchema: { type: 'object', properties: { any: true, none: false } } },
  { name: 'untyped', inputSchema: input, outputSchema: { $ref: '#/$defs/a', $defs: { a: {} } } },
  { name: 'lost', inputSchema: input, outputSchema: { type: 'object', items: { $ref: '#/none' } } },
];
/** Clients that speak 2026-07-28 to the gateway. */
const MODERN: readonly ClientName[] = ['SDK 2.x auto', 'SDK 2.x pinned to 2026-07-28'];

let folder: string;
let gateway: Gateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-older-'));
  const file = join(folder, 'tools.json');
  await writeFile(file, JSON.stringify(TOOLS));
  const [{ origin }, rich] = await Promise.all([
    startFixture('listed-tools', { tools: file }),
    startFixture('rich-legacy'),
  ]);
  gateway = await startGateway();
  await gateway.register('odd', origin, TRUSTED);
  await gateway.register('rich', `${rich.origin}/mcp`, TRUSTED);
});

afterAll(async () => {
  await gateway?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** `mcp-remote` in its mode `auto` speaks 2026-07-28 here, and passes results to its own client that this client may not accept. */
const eachClient = clientNames.filter(name => name !== 'mcp-remote auto');

describe.each(eachClient)('%s', name => {
  let client: McpClient;
  const isModern = MODERN.includes(name);

  beforeAll(async () => {
    client = await clients[name]({ url: `${gateway.origin}/mcp`, token: gateway.adminToken });
  });
  afterAll(() => client?.close());

  it('[MCP-4] [MCP-5] lists every tool of every server', async () => {
    const tools = await client.listTools();
    const names = tools.map(tool => tool.name);
    expect(names).toEqual(expect.arrayContaining(TOOLS.map(tool => `odd.${tool.name}`)));
    expect(names).toContain('rich.link');
    const numbers = tools.find(tool => tool.name === 'odd.numbers');
    expect(numbers?.['outputSchema']).toEqual(
      isModern
        ? NUMBERS
        : { type: 'object', properties: { result: NUMBERS }, required: ['result'] },
    );
  });

  it('[MCP-5] [MCP-7] gets structured content that fits the listed schema', async () => {
    await client.listTools();
    const answer = { content: [], structuredContent: [1, 2] };
    const result = await client.callTool('odd.numbers', { answer });
    expect(result['structuredContent']).toEqual(isModern ? [1, 2] : { result: [1, 2] });
    expect(result['content']).toEqual(isModern ? [] : [{ type: 'text', text: '[1,2]' }]);
  });
});
