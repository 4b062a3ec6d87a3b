/** A server of HTTP+SSE that answers 404 to messages of a connection whose stream it keeps open. */
import { afterEach, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { UpstreamClaims } from '../../../src/upstream/session/session-lock.ts';
import type { SseConnection } from '../../../src/upstream/streams/sse-connection.ts';
import { SseConnections } from '../../../src/upstream/streams/sse-connections.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

const INITIALIZED = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: {} };

/** Serves connections, each with an endpoint of its own. @returns the open ones, by number, and those that were forgotten */
function serve() {
  const open = new Map<string, (data: object) => void>();
  const forgotten = new Set<string>();
  const encoder = new TextEncoder();
  let opened = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    if (init?.method === 'POST') {
      const path = new URL(String(input)).pathname.slice(1);
      const { id, method } = JSON.parse(String(init.body)) as { id?: unknown; method: string };
      if (forgotten.has(path)) return new Response(null, { status: 404 });
      const result = method === 'initialize' ? INITIALIZED : { of: path };
      if (id !== undefined) open.get(path)?.({ jsonrpc: '2.0', id, result });
      return new Response(null, { status: 202 });
    }
    const path = String((opened += 1));
    init?.signal?.addEventListener('abort', () => open.delete(path));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode(`event: endpoint\ndata: /${path}\n\n`));
        const send = (data: object) =>
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(data)}\n\n`));
        open.set(path, send);
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  return { open, forgotten };
}

it('[UP-2] opens another connection for the next call', async () => {
  const { open, forgotten } = serve();
  const options = { maxBytes: 1e6, onEvent: () => false, isKeptOpen: () => true };
  const connections = new SseConnections(new UpstreamClaims(60_000), options);
  const deadline = createDeadline(60_000);
  const call = async (connection: SseConnection) =>
    (await connection.request('ping', new Map(), deadline)).parsed;
  const first = await connections.connect(endpoint, {});
  expect(await call(first)).toEqual({ of: '1' });
  forgotten.add('1');
  await expect(call(first)).rejects.toMatchObject({ code: 'upstream_4xx' });
  const second = await connections.connect(endpoint, {});
  expect(await call(second)).toEqual({ of: '2' });
  expect([...open.keys()]).toEqual(['2']);
  connections.closeAll();
  deadline.release();
});
