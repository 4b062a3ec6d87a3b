/** Clients of the deprecated HTTP+SSE transport, here of the 1.x SDK, at `/sse`: everything that a session has, on one stream. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';

const upstreams: Upstream[] = [];
const closing: (() => Promise<void>)[] = [];
let gateway: Gateway;

const authorization = () => `Bearer ${gateway.adminToken}`;

/** @param rest of the endpoint's URL after `/sse` */
async function connect(rest = ''): Promise<Client> {
  const client = new Client({ name: 'old', version: '1.0.0' }, { capabilities: { sampling: {} } });
  const requestInit = { headers: { authorization: authorization() } };
  await client.connect(
    new SSEClientTransport(new URL(`${gateway.origin}/sse${rest}`), { requestInit }) as Transport,
  );
  closing.push(() => client.close());
  return client;
}

beforeAll(async () => {
  const [started, legacy, modern, rich] = await Promise.all([
    // A stream whose client has disconnected is noticed at the next write.
    startGateway({ env: { ...QUIET, PORTICO_KEEP_ALIVE_MS: '500' } }),
    startFixture('conformance-legacy'),
    startFixture('conformance-modern', { era: 'modern' }),
    startFixture('rich-legacy'),
  ]);
  gateway = started;
  upstreams.push(legacy, modern, rich);
  await gateway.register('old', `${legacy.origin}/mcp`);
  await gateway.register('sse', `${legacy.origin}/sse`, { transport_type: 'SSE' });
  await gateway.register('new', `${modern.origin}/mcp`);
  await gateway.register('rich', `${rich.origin}/mcp`);
});

afterEach(async () => {
  await Promise.allSettled(closing.splice(0).map(close => close()));
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(upstreams.map(upstream => upstream.stop()));
});

describe('an old client', () => {
  it.each(['old', 'sse', 'new'])(
    '[MCP-2] [MCP-5] lists and calls at the upstream %s',
    async server => {
      const client = await connect();
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain(`${server}.test_simple_text`);
      const result = await client.callTool({ name: `${server}.test_simple_text`, arguments: {} });
      expect(result).toMatchObject({ content: [{ type: 'text' }] });
      const read = await client.readResource({ uri: `${server}+test://static-text` });
      expect(read.contents[0]?.uri).toBe(`${server}+test://static-text`);
    },
  );

  it('[MCP-2] [MCP-8] gets the name style it asks for, in the whole session', async () => {
    const client = await connect('?names=underscore');
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('rich__echo');
    const result = await client.callTool({ name: 'rich__echo', arguments: { message: 'hi' } });
    expect(result.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
  });

  it('[MCP-2] [MCP-3] sees one server alone at its endpoint, with its own names and URIs', async () => {
    const client = await connect('/servers/new');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('test_simple_text');
    expect(names.filter(name => name.includes('.'))).toEqual([]);
    const heard: string[] = [];
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    );
    const uri = 'test://watched-resource';
    expect((await client.readResource({ uri })).contents[0]?.uri).toBe(uri);
    await client.subscribeResource({ uri });
    await client.callTool({ name: 'test_trigger_resource_update', arguments: {} });
    await until('the update is heard', 60_000, async () => (heard.length > 0 ? true : undefined));
    expect(heard).toEqual([uri]);
    await expect(client.callTool({ name: 'rich.echo', arguments: {} })).rejects.toThrow(
      'Tool not found',
    );
  });

  it('[MCP-2] [MCP-10] keeps one session at the upstream, and parallel calls are not mixed up', async () => {
    const client = await connect();
    const count = async () => {
      const { content } = await client.callTool({ name: 'rich.counter', arguments: {} });
      return (content as { text: string }[])[0]?.text;
    };
    expect([await count(), await count()]).toEqual(['1', '2']);
    const echoes = Array.from({ length: 20 }, (_, i) =>
      client.callTool({ name: 'rich.echo', arguments: { message: `${i}` } }),
    );
    const texts = (await Promise.all(echoes)).map(
      ({ content }) => (content as { text: string }[])[0]?.text,
    );
    expect(texts).toEqual(Array.from({ length: 20 }, (_, i) => `Echo: ${i}`));
  });

  it('[MCP-2] [MCP-7] sends and receives more than a WebSocket message holds', async () => {
    const client = await connect();
    const message = `${'é\u{1F680}'.repeat(400_000)}!`;
    const { content } = await client.callTool({ name: 'rich.echo', arguments: { message } });
    expect((content as { text: string }[])[0]?.text === `Echo: ${message}`).toBe(true);
  });

  it('[MCP-2] [MCP-4] receives progress, changes and updates on its stream', async () => {
    const client = await connect();
    const heard = { changes: 0, updates: [] as string[], progress: [] as unknown[] };
    // Read from the transport: the SDK drops a call's progress handler if the result arrives in the same read.
    const { transport } = client;
    const take = transport?.onmessage;
    if (!transport) throw new Error('the client has a transport');
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has this property only
    transport.onmessage = (message, extra) => {
      if ('method' in message && message.method === 'notifications/progress')
        heard.progress.push(message.params?.['progress']);
      take?.(message, extra);
    };
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.changes++);
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.updates.push(params.uri),
    );
    await client.callTool({ name: 'rich.steps', arguments: {} }, undefined, {
      onprogress: () => undefined,
    });
    expect(heard.progress).toEqual([1, 2, 3]);
    await client.subscribeResource({ uri: 'new+test://watched-resource' });
    await client.callTool({ name: 'new.test_trigger_resource_update', arguments: {} });
    await client.callTool({ name: 'new.test_trigger_tool_change', arguments: {} });
    await until('both heard', 60_000, async () =>
      heard.changes > 0 && heard.updates.length > 0 ? true : undefined,
    );
    expect(heard.updates).toEqual(['new+test://watched-resource']);
  });

  it('[MCP-2] [MCP-4] is asked a question during a call', async () => {
    const client = await connect();
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: 'm',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'sampled' },
    }));
    const result = await client.callTool({ name: 'old.test_sampling', arguments: { prompt: 'p' } });
    expect(JSON.stringify(result.content)).toContain('sampled');
  });

  it('[MCP-2] [UP-3] cancels its call, and continues', async () => {
    const client = await connect();
    const controller = new AbortController();
    const call = client.callTool(
      { name: 'rich.slow', arguments: { ms: 20_000, message: 'x' } },
      undefined,
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort('enough'), 200);
    await expect(call).rejects.toThrow('enough');
    const result = await client.callTool({ name: 'rich.echo', arguments: { message: 'on' } });
    expect(result.content).toEqual([{ type: 'text', text: 'Echo: on' }]);
  });
});

describe('refuses', () => {
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.origin}${path}`, {
      method: 'POST',
      headers: { authorization: authorization(), 'content-type': 'application/json', ...headers },
      body,
    });
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

  it('[MCP-2] [ACC-1] a stream or a message without a credential', async () => {
    expect((await fetch(`${gateway.origin}/sse`)).status).toBe(401);
    expect((await post('/messages?sessionId=x', ping, { authorization: 'Bearer x' })).status).toBe(
      401,
    );
  });

  it("[MCP-2] [MCP-10] a message for an unknown stream, or for somebody else's", async () => {
    expect((await post('/messages', ping)).status).toBe(400);
    expect((await post('/messages?sessionId=nonsense', ping)).status).toBe(404);
    const stream = await fetch(`${gateway.origin}/sse`, {
      headers: { authorization: authorization() },
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const { value = '' } = (await reader?.read()) ?? {};
    const path = /data: (\S+)/u.exec(value)?.[1] ?? '';
    expect(value.startsWith('event: endpoint\n')).toBe(true);
    const { token } = await gateway.createToken({ name: 'stranger' });
    expect((await post(path, ping, { authorization: `Bearer ${token}` })).status).toBe(404);
    expect((await post(path, '{')).status).toBe(400);
    expect((await post(path, ping)).status).toBe(202);
    // A silent stream is kept alive by comments, which may come first.
    let text = '';
    while (!text.includes('"result":{}')) {
      const { done, value: chunk } = (await reader?.read()) ?? { done: true };
      if (done) break;
      text += chunk;
    }
    expect(text).toContain('"result":{}');
    await reader?.cancel();
    await until('the stream is gone', 60_000, async () =>
      (await post(path, ping)).status === 404 ? true : undefined,
    );
  });

  it('[MCP-2] [MCP-9] the stream of a server that does not exist, or is hidden from the caller', async () => {
    const { json } = await gateway.api('GET', '/api/v1/aggregator/servers');
    const records = json['servers'] as { id: string; name: string }[];
    const only = records.find(({ name }) => name === 'new')?.id;
    const { token } = await gateway.createToken({ name: 'narrow', servers: [only] });
    const ask = async (name: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${gateway.origin}/sse/servers/${name}`, { headers });
      return [answer.status, answer.status === 404 ? await answer.text() : ''];
    };
    const [hidden, unknown] = [await ask('rich'), await ask('nowhere')];
    expect(hidden[0]).toBe(404);
    expect(hidden).toEqual(unknown);
    const shown = new AbortController();
    const stream = await fetch(`${gateway.origin}/sse/servers/new`, {
      headers: { authorization: `Bearer ${token}` },
      signal: shown.signal,
    });
    expect(stream.status).toBe(200);
    shown.abort();
  });

  it.each(['/sse', '/sse/servers/new'])('[MCP-2] another method at %s', async path => {
    const answer = await post(path, ping);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET']);
  });
});

it('[MCP-2] [MCP-10] the end of a stream ends its session', async () => {
  const [, , rich] = upstreams;
  const client = await connect();
  await client.callTool({ name: 'rich.counter', arguments: {} });
  const before = (await rich?.counters())?.['sessions'] ?? 0;
  expect(before).toBeGreaterThan(0);
  await client.close();
  await until('the upstream session ended', 60_000, async () =>
    ((await rich?.counters())?.['sessions'] ?? before) < before ? true : undefined,
  );
});
