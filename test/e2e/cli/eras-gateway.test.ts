/**
 * Through the gateway, with programs of the 2.x SDK with its defaults: a legacy client is asked and notified as if it ran the program
 * itself, a modern client gets the modern era, and no unneeded process is started and no unneeded call made.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { connectPrograms, fixtureProgram, type Connected } from '../support/connected.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';

const TIME_MS = 300_000;
const WAIT = { timeout: 60_000, interval: 100 };
let gateway: Gateway;
let connected: Connected;
let folder: string;

const program = (name: string, ...options: string[]) => ({
  ...fixtureProgram('dual-stdio.ts', ...options),
  env: { LOG: join(folder, name) },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-eras-'));
  // While the gateway monitors a program, its messages may be meant for either, so they are delivered to nobody.
  gateway = await startGateway({ env: QUIET });
  const programs = {
    dual: program('dual'),
    told: program('told'),
    strict: program('strict', '--strict'),
    modern: { ...program('modern'), portico: { era: 'modern' } },
  };
  const settings = { tool_approval: 'trust' };
  connected = await connectPrograms(gateway, 'desk', programs, { settings });
}, TIME_MS);

afterAll(async () => {
  await connected?.end('SIGTERM');
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

const linesOf = async (name: string) =>
  (await readFile(join(folder, name), 'utf8')).trim().split('\n');
const starts = async (name: string) =>
  (await linesOf(name)).filter(line => line.startsWith('started')).length;

const target = () => {
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  return [new URL(`${gateway.origin}/mcp`), { requestInit: { headers } }] as const;
};
const ALL = { elicitation: {}, sampling: {}, roots: {} };

/** Connects a client of the 1.x SDK that answers every question. */
async function connectLegacy(capabilities: object = ALL) {
  const client = new Client1({ name: 'old', version: '1.0.0' }, { capabilities });
  const told: string[] = [];
  if ('elicitation' in capabilities) {
    const content = { name: 'Ada' };
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content }));
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: 'm',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'it is' },
    }));
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///mine' }] }));
  }
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    told.push(String(params.data));
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    told.push(params.uri);
  });
  await client.connect(new Http1(...target()) as Transport);
  const call = async (name: string, given = {}) =>
    JSON.stringify(await client.callTool({ name, arguments: given }));
  return { call, told, client, close: () => client.close() };
}

async function connectModern() {
  const client = new Client2(
    { name: 'new', version: '1.0.0' },
    { capabilities: ALL, versionNegotiation: { mode: 'auto' } },
  );
  const content = { name: 'Eve' };
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content }));
  await client.connect(new Http2(...target()));
  const call = async (name: string) => JSON.stringify(await client.callTool({ name }));
  return { call, client, close: () => client.close() };
}

it(
  '[CLI-1] [MCP-4] [MCP-5] a program of both eras asks and notifies a legacy client from its first call on',
  async () => {
    const [legacy, modern] = [await connectLegacy(), await connectModern()];
    const names = (await legacy.client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('dual.elicit');
    expect(await modern.call('dual.where')).toContain('modern ');
    expect([await starts('dual'), await starts('told')]).toEqual([1, 1]);
    expect(await legacy.call('dual.elicit')).toContain('elicited Ada');
    expect(await legacy.call('dual.sample')).toContain('it is');
    expect(await legacy.call('dual.roots')).toContain('file:///mine');
    expect(await legacy.call('dual.rounds')).toContain('in rounds Ada');
    expect(await legacy.call('dual.has')).toContain('elicitation roots sampling');
    await legacy.call('dual.log');
    expect(legacy.told).toEqual(['logged in a call']);
    expect(await modern.call('dual.rounds')).toContain('in rounds Eve');
    expect(await modern.call('dual.where')).toContain('modern ');
    expect([await starts('dual'), await starts('told')]).toEqual([2, 1]);
    await Promise.all([legacy.close(), modern.close()]);
  },
  TIME_MS,
);

it(
  '[MCP-5] tools that the program has in one era only are listed to clients of that era, once it runs',
  async () => {
    const [legacy, modern] = [await connectLegacy(), await connectModern()];
    await legacy.call('dual.where');
    const only = async (tools: Promise<{ tools: { name: string }[] }>) =>
      (await tools).tools
        .map(({ name }) => name)
        .filter(name => name.startsWith('dual.only'))
        .join();
    await vi.waitFor(async () => {
      const now = [await only(legacy.client.listTools()), await only(modern.client.listTools())];
      expect(now).toEqual(['dual.only-legacy', 'dual.only-modern']);
    }, WAIT);
    expect(await legacy.call('dual.only-legacy')).toContain('legacy');
    await Promise.all([legacy.close(), modern.close()]);
  },
  TIME_MS,
);

it(
  '[MCP-4] a legacy client is notified of a resource by the process that serves its calls',
  async () => {
    const legacy = await connectLegacy();
    const { resources } = await legacy.client.listResources();
    const uri = resources.map(resource => resource.uri).find(one => one.includes('told')) ?? '';
    await legacy.client.subscribeResource({ uri });
    await legacy.call('told.touch');
    await until('it is told', 60_000, async () => legacy.told.includes(uri) || undefined);
    expect(await starts('told')).toBe(2);
    await legacy.close();
  },
  TIME_MS,
);

it(
  '[CLI-1] [UP-1] a program of the modern era alone serves clients of both, and is started once in the other',
  async () => {
    const legacy = await connectLegacy();
    const { resources } = await legacy.client.listResources();
    const uri = resources.map(resource => resource.uri).find(one => one.includes('strict')) ?? '';
    await legacy.client.subscribeResource({ uri });
    expect(await legacy.call('strict.count', { key: 'one' })).toContain('did one');
    expect(await legacy.call('strict.rounds')).toContain('in rounds Ada');
    await legacy.call('strict.log');
    const modern = await connectModern();
    expect(await modern.call('strict.where')).toContain('modern ');
    const other = await connectLegacy();
    expect(await other.call('strict.count', { key: 'two' })).toContain('did two');
    const lines = await linesOf('strict');
    expect(lines.filter(line => line.startsWith('did'))).toEqual(['did one', 'did two']);
    expect(await starts('strict')).toBe(2);
    await Promise.all([legacy.close(), modern.close(), other.close()]);
  },
  TIME_MS,
);

it(
  '[CLI-1] a program learns that its client has no capabilities; if its entry sets the era, the entry decides',
  async () => {
    const plain = await connectLegacy({});
    expect(await plain.call('dual.has')).toContain('"text":""');
    expect(await plain.call('dual.where')).toContain('legacy ');
    expect(await plain.call('modern.where')).toContain('modern ');
    expect(await starts('modern')).toBe(1);
    await plain.close();
  },
  TIME_MS,
);
