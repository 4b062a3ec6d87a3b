/**
 * Questions that a legacy server sends on the notification stream of a session instead of the stream of a call, as the 1.x SDK's server
 * does if its tool does not name the request: each client that can be asked is asked them.
 */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { MODERN_VERSION } from '../support/raw-client.ts';

interface Asking {
  call(tool: string): Promise<string>;
  close(): Promise<void>;
}

/** How long the gateway holds an unused stream, in milliseconds. */
const HOLD_MS = 2_000;
const identity = { name: 'portico-e2e', version: '1.0.0' };
const all = { sampling: {}, elicitation: { form: {} }, roots: {} };
const sampled = (who: string) => ({
  role: 'assistant' as const,
  content: { type: 'text' as const, text: who },
  model: 'none',
});
const accepted = (who: string) => ({ action: 'accept' as const, content: { who } });
const rootsOf = (who: string) => ({ roots: [{ uri: `file:///${who}` }] });
const told = (result: unknown) =>
  ((result as { content?: { text?: string }[] }).content ?? []).map(({ text }) => text).join('\n');

let gateway: Gateway;
let upstream: Upstream;
const opened: Asking[] = [];

const headers = () => ({ authorization: `Bearer ${gateway.adminToken}` });

function client1(who: string, capabilities: typeof all | object = all): Client1 {
  const client = new Client1(identity, { capabilities });
  if (!('sampling' in capabilities)) return client;
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled(who));
  client.setRequestHandler(ElicitRequestSchema, () => accepted(who));
  client.setRequestHandler(ListRootsRequestSchema, () => rootsOf(who));
  return client;
}

async function connect1(client: Client1, transport: unknown): Promise<Asking> {
  await client.connect(transport as Transport);
  const asking = {
    call: async (tool: string) =>
      told(await client.callTool({ name: `standing.${tool}`, arguments: {} })),
    close: () => client.close(),
  };
  opened.push(asking);
  return asking;
}

const http1 = () =>
  new Http1(new URL(`${gateway.origin}/mcp`), { requestInit: { headers: headers() } });

/** A transport that opens no stream of its own. */
const deaf = () => {
  const refuseGet = async (input: string | URL, init?: RequestInit) =>
    init?.method === 'GET' ? new Response(null, { status: 405 }) : fetch(input, init);
  return new Http1(new URL(`${gateway.origin}/mcp`), {
    requestInit: { headers: headers() },
    fetch: refuseGet,
  });
};

const clients = {
  'legacy client': (who: string) => connect1(client1(who), http1()),
  'HTTP+SSE client': (who: string) => {
    const url = new URL(`${gateway.origin}/sse`);
    const requestInit = { headers: headers() };
    return connect1(client1(who), new SSEClientTransport(url, { requestInit }));
  },
  async 'modern client'(who: string): Promise<Asking> {
    const versionNegotiation = { mode: { pin: MODERN_VERSION } };
    const client = new Client2(identity, { capabilities: all, versionNegotiation });
    client.setRequestHandler('sampling/createMessage', () => sampled(who));
    client.setRequestHandler('elicitation/create', () => accepted(who));
    client.setRequestHandler('roots/list', () => rootsOf(who));
    const requestInit = { headers: headers() };
    await client.connect(new Http2(new URL(`${gateway.origin}/mcp`), { requestInit }));
    const asking = {
      call: async (tool: string) =>
        told(await client.callTool({ name: `standing.${tool}`, arguments: {} })),
      close: () => client.close(),
    };
    opened.push(asking);
    return asking;
  },
};

const counters = () => upstream.counters();

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([
    startFixture('standing-legacy'),
    startGateway({ env: { ...QUIET, PORTICO_STANDING_STREAM_MS: String(HOLD_MS) } }),
  ]);
  await gateway.register('standing', `${upstream.origin}/mcp`);
}, 300_000);

afterEach(async () => {
  await Promise.allSettled(opened.splice(0).map(client => client.close()));
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

describe.each(Object.entries(clients))('a %s', (_name, connect) => {
  it('[MCP-4] [MCP-5] is asked everything that it can be asked', async () => {
    const client = await connect('ada');
    expect(await client.call('form')).toBe('{"who":"ada"}');
    expect(await client.call('sample')).toBe('{"type":"text","text":"ada"}');
    expect(await client.call('roots')).toBe('[{"uri":"file:///ada"}]');
    expect(await client.call('twice')).toBe('[{"who":"ada"},{"type":"text","text":"ada"}]');
    expect(await client.call('nothing')).toBe('"nothing"');
  });

  it('[MCP-4] [MCP-5] answers its own questions, in parallel calls, beside other clients of its principal', async () => {
    const people = Array.from({ length: 5 }, (_, i) => `person-${i}`);
    const asked = await Promise.all(people.map(who => connect(who)));
    const tools = ['form', 'twice'];
    const texts = await Promise.all(asked.flatMap(client => tools.map(tool => client.call(tool))));
    expect(texts).toEqual(
      people.flatMap(who => [
        `{"who":"${who}"}`,
        `[{"who":"${who}"},{"type":"text","text":"${who}"}]`,
      ]),
    );
  });
});

describe('a notification stream', () => {
  it('[MCP-12] [UP-2] of a client without an open stream of its own is closed when unused, and opened again', async () => {
    const client = await connect1(client1('eve'), deaf());
    expect(await client.call('form')).toBe('{"who":"eve"}');
    await until('no stream is open', 60_000, async () =>
      (await counters())['open'] === 0 ? true : undefined,
    );
    const { opened: before = 0 } = await counters();
    const both = await Promise.all([client.call('form'), client.call('form')]);
    expect(both).toEqual(['{"who":"eve"}', '{"who":"eve"}']);
    expect(await counters()).toMatchObject({ opened: before + 1, refused: 0 });
  });

  it('[UP-2] is resumed when the server closes it', async () => {
    await until('no stream of before is open', 60_000, async () =>
      (await counters())['open'] === 0 ? true : undefined,
    );
    const client = await clients['legacy client']('lee');
    await client.call('form');
    const { opened: before = 0, open = 0 } = await upstream.counters();
    expect(open).toBeGreaterThan(0);
    await upstream.counters('?hangup=1');
    await client.call('nothing');
    await until('it is open again', 60_000, async () =>
      ((await counters())['opened'] ?? 0) > before ? true : undefined,
    );
    expect(await client.call('form')).toBe('{"who":"lee"}');
  });

  it('[MCP-4] also delivers log messages of the server', async () => {
    const client = client1('kim');
    const heard: unknown[] = [];
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void heard.push(params.data),
    );
    const asking = await connect1(client, http1());
    const answer = asking.call('tell');
    await until('it is heard', 60_000, async () => heard.length > 0 || undefined);
    await upstream.counters('?release=1');
    expect(await answer).toBe('"told"');
    expect(heard).toEqual(['told']);
  });

  it('[MCP-12] of a client with an open stream of its own stays as long as that', async () => {
    await until('no stream of before is open', 60_000, async () =>
      (await counters())['open'] === 0 ? true : undefined,
    );
    const client = await clients['legacy client']('ann');
    expect(await client.call('form')).toBe('{"who":"ann"}');
    const { opened: before } = await counters();
    await new Promise(resolve => setTimeout(resolve, 2 * HOLD_MS));
    expect(await client.call('form')).toBe('{"who":"ann"}');
    expect(await counters()).toMatchObject({ opened: before, open: 1 });
    await client.close();
    await until('it is closed', 60_000, async () =>
      (await counters())['open'] === 0 ? true : undefined,
    );
  });

  it('[MCP-12] is not opened for a client that cannot be asked and has no open stream', async () => {
    const { opened: before } = await counters();
    const client = await connect1(client1('mute', {}), deaf());
    expect(await client.call('nothing')).toBe('"nothing"');
    expect((await counters())['opened']).toBe(before);
  });
});
