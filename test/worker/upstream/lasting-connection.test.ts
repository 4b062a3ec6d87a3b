/** A monitor's lasting connection to a server: what it does again after a request that failed. */
import { describe, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { UpstreamWatch } from '../../../src/upstream/discovery/watch.ts';
import type { UpstreamEndpoint } from '../../../src/upstream/endpoint.ts';
import { SessionForgotten } from '../../../src/upstream/exchange.ts';

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { resources: { subscribe: true } },
  serverInfo: { name: 's', version: '1' },
};

/** A legacy server that answers a subscription only when it may. */
function createServer() {
  const server = { subscribed: 0, mayAnswer: false };
  const answers: Record<string, unknown> = {
    initialize: INITIALIZED,
    'tools/list': { tools: [] },
    'resources/list': { resources: [] },
    'resources/templates/list': { resourceTemplates: [] },
    'resources/subscribe': {},
  };
  const fetch: UpstreamEndpoint['fetch'] = async (_url, { method, body, signal }) => {
    if (method !== 'POST') return new Response(null, { status: 405 });
    const { id, method: asked } = JSON.parse(String(body)) as { id?: number; method: string };
    if (id === undefined) return new Response(null, { status: 202 });
    const isSubscription = asked === 'resources/subscribe';
    server.subscribed += Number(isSubscription);
    if (isSubscription && !server.mayAnswer) {
      await new Promise<void>(resolve => {
        signal?.addEventListener('abort', () => resolve());
      });
      throw new Error('aborted');
    }
    const result = answers[asked];
    if (result === undefined) return new Response(null, { status: 400 });
    const headers = { 'mcp-session-id': 'u' };
    return Response.json({ jsonrpc: '2.0', id, result }, { headers });
  };
  return { server, fetch };
}

function createWatch(fetch: UpstreamEndpoint['fetch'], uris: readonly string[] = []) {
  const endpoint: UpstreamEndpoint = {
    serverId: 's',
    name: 's',
    url: 'https://server.example/mcp',
    headers: {},
    hidden: [],
    credentialKey: 'k',
    fetch,
  };
  return new UpstreamWatch(endpoint, {
    transport: 'http',
    maxBytes: 100_000,
    onEvent: () => {},
    onUpdated: () => {},
    uris: () => Promise.resolve(uris),
    wantsLists: true,
    memory: {
      find: () => Promise.resolve(undefined),
      keep: () => Promise.resolve(),
      drop: () => Promise.resolve(),
    },
  });
}

/** A legacy server that may forget its session, and opens each change stream only when `open` is called. */
function createForgetfulServer() {
  const server = { session: 'u1', streams: [] as (string | null)[], open: [] as (() => void)[] };
  const capabilities = { tools: { listChanged: true } };
  const answers: Record<string, unknown> = {
    initialize: { ...INITIALIZED, capabilities },
    'tools/list': { tools: [] },
    ping: {},
  };
  const fetch: UpstreamEndpoint['fetch'] = async (_url, { method, body, headers }) => {
    const session = new Headers(headers).get('mcp-session-id');
    if (method === 'DELETE') return new Response(null);
    if (method === 'GET') {
      server.streams.push(session);
      await new Promise<void>(resolve => void server.open.push(resolve));
      return new Response(new ReadableStream(), {
        headers: { 'content-type': 'text/event-stream' },
      });
    }
    const { id, method: asked } = JSON.parse(String(body)) as { id?: number; method: string };
    if (id === undefined) return new Response(null, { status: 202 });
    const result = answers[asked];
    if (result === undefined) return new Response(null, { status: 400 });
    if (asked !== 'initialize' && session !== server.session) {
      return new Response(null, { status: 404 });
    }
    return Response.json(
      { jsonrpc: '2.0', id, result },
      { headers: { 'mcp-session-id': server.session } },
    );
  };
  return { server, fetch };
}

it('[MCP-4] [UP-2] opens a change stream in the new session, if the server forgot the old one while its stream was being opened', async () => {
  const { server, fetch } = createForgetfulServer();
  const watch = createWatch(fetch);
  const deadline = createDeadline(10_000);
  const discovered = watch.discover(deadline);
  await vi.waitFor(() => expect(server.streams).toEqual(['u1']));
  server.session = 'u2';
  await watch.ping(deadline);
  server.open[0]?.();
  await expect(discovered).rejects.toBeInstanceOf(SessionForgotten);
  const again = watch.discover(deadline);
  await vi.waitFor(() => expect(server.streams).toEqual(['u1', 'u2']));
  server.open[1]?.();
  await again;
  watch.close();
  deadline.release();
});

describe('[MCP-4] a resource that clients subscribed to', () => {
  it('is subscribed to again at the next discovery, if the server did not answer in time', async () => {
    const { server, fetch } = createServer();
    const uris: string[] = [];
    const watch = createWatch(fetch, uris);
    const discover = async (ms: number) => {
      const deadline = createDeadline(ms);
      try {
        return await watch.discover(deadline);
      } finally {
        deadline.release();
      }
    };
    await discover(10_000);
    uris.push('note://a');
    await expect(discover(50)).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(server.subscribed).toBe(1);
    server.mayAnswer = true;
    await discover(10_000);
    expect(server.subscribed).toBe(2);
    await discover(10_000);
    expect(server.subscribed).toBe(2);
    watch.close();
  });
});
