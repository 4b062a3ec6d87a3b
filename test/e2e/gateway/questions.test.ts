/**
 * Questions of servers during a call, in every pair of client and upstream: the client that made the call answers each question, whichever
 * wire format the two eras use. Peers are the SDKs' own clients and servers.
 */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { MODERN_VERSION } from '../support/raw-client.ts';

interface Asking {
  call(name: string, given?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

const identity = { name: 'portico-e2e', version: '1.0.0' };
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: {} };
const sampled = (who: string) => ({
  role: 'assistant' as const,
  content: { type: 'text' as const, text: `sampled by ${who}` },
  model: 'none',
});
const accepted = (who: string) => ({
  action: 'accept' as const,
  content: { name: who, ok: true, step1: who, step2: who, color: who, username: who, email: who },
});
const rootsOf = (who: string) => ({ roots: [{ uri: `file:///${who}` }] });

let gateway: Gateway;
const told = (result: unknown) =>
  ((result as { content?: { text?: string }[] }).content ?? []).map(({ text }) => text).join('\n');

async function legacyClient(who: string): Promise<Asking> {
  const client = new Client1(identity, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled(who));
  client.setRequestHandler(ElicitRequestSchema, () => accepted(who));
  client.setRequestHandler(ListRootsRequestSchema, () => rootsOf(who));
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  await client.connect(
    new Http1(new URL(`${gateway.origin}/mcp`), { requestInit: { headers } }) as never,
  );
  return {
    call: async (name, given = {}) => told(await client.callTool({ name, arguments: given })),
    close: () => client.close(),
  };
}

async function modernClient(who: string): Promise<Asking> {
  const versionNegotiation = { mode: { pin: MODERN_VERSION } };
  const client = new Client2(identity, { capabilities, versionNegotiation });
  client.setRequestHandler('sampling/createMessage', () => sampled(who));
  client.setRequestHandler('elicitation/create', () => accepted(who));
  client.setRequestHandler('roots/list', () => rootsOf(who));
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  await client.connect(new Http2(new URL(`${gateway.origin}/mcp`), { requestInit: { headers } }));
  return {
    call: async (name, given = {}) => told(await client.callTool({ name, arguments: given })),
    close: () => client.close(),
  };
}

const clients = { legacy: legacyClient, modern: modernClient };
const upstreams = ['http-legacy', 'sse-legacy', 'http-modern'];

beforeAll(async () => {
  const [legacy, modern] = await Promise.all([
    startFixture('conformance-legacy'),
    startFixture('conformance-modern', { era: 'modern' }),
  ]);
  gateway = await startGateway();
  await gateway.register('http-legacy', `${legacy.origin}/mcp`);
  await gateway.register('sse-legacy', `${legacy.origin}/sse`, { transport_type: 'SSE' });
  await gateway.register('http-modern', `${modern.origin}/mcp`);
}, 300_000);

afterAll(() => gateway.stop());

describe.each(Object.entries(clients))('a %s client', (_era, connect) => {
  it.each(upstreams)('[MCP-4] [MCP-5] is asked for a sample by %s', async upstream => {
    const client = await connect('ada');
    expect(await client.call(`${upstream}.test_sampling`, { prompt: 'hi' })).toContain(
      'sampled by ada',
    );
    await client.close();
  });

  it.each(upstreams)('[MCP-4] [MCP-5] is asked to fill in a form by %s', async upstream => {
    const client = await connect('bob');
    const text = await client.call(`${upstream}.test_elicitation`, { message: 'who?' });
    expect(text).toContain('bob');
    await client.close();
  });

  it.each(upstreams)('[MCP-4] [MCP-5] is asked for its roots by %s', async upstream => {
    const client = await connect('eve');
    const text = await client.call(`${upstream}.test_input_required_result_list_roots`);
    expect(text).toMatch(/1 root|file:\/\/\/eve/);
    await client.close();
  });

  it.each(upstreams)('[MCP-4] [MCP-5] is asked several questions by %s', async upstream => {
    const client = await connect('kim');
    const text = await client.call(`${upstream}.test_input_required_result_multiple_inputs`);
    expect(text).toContain('kim');
    await client.close();
  });

  it.each(upstreams)('[MCP-4] [MCP-5] is asked over several rounds by %s', async upstream => {
    const client = await connect('lee');
    const text = await client.call(`${upstream}.test_input_required_result_multi_round`);
    expect(text).toContain('lee');
    await client.close();
  });

  it.each(upstreams)(
    '[MCP-5] answers only its own questions when many are asked by %s',
    async upstream => {
      const people = Array.from({ length: 10 }, (_, i) => `person-${i}-of-10`);
      const asked = await Promise.all(people.map(who => connect(who)));
      const texts = await Promise.all(
        asked.map(client => client.call(`${upstream}.test_elicitation`, { message: 'who?' })),
      );
      await Promise.all(asked.map(client => client.close()));
      expect(texts.map((text, i) => text.includes(people[i] ?? '?'))).toEqual(
        people.map(() => true),
      );
    },
  );
});
