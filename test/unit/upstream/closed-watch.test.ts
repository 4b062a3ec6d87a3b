/** A monitor's connection that is closed while it is being negotiated, as when its server is disconnected. */
import { afterEach, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { UpstreamWatch } from '../../../src/upstream/discovery/watch.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

const RESULTS: Record<string, object> = {
  initialize: { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: {} },
  'tools/list': { tools: [] },
};

it('[UP-1] [REG-3] leaves no stream of an HTTP+SSE server open', async () => {
  let open = 0;
  const posted: string[] = [];
  const encoder = new TextEncoder();
  const onInitialize = Promise.withResolvers<() => void>();
  vi.spyOn(globalThis, 'fetch').mockImplementation((_input, init) => {
    if (init?.method === 'POST') {
      const { id, method } = JSON.parse(String(init.body)) as { id?: unknown; method: string };
      const answer = () => send({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} });
      const isFirst = posted.push(method) === 1;
      if (isFirst) onInitialize.resolve(answer);
      else if (id !== undefined) answer();
      return Promise.resolve(new Response(null, { status: 202 }));
    }
    open += 1;
    init?.signal?.addEventListener('abort', () => (open -= 1));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode('event: endpoint\ndata: /messages\n\n'));
        send = data => controller.enqueue(encoder.encode(`data: ${JSON.stringify(data)}\n\n`));
      },
    });
    const headers = { 'content-type': 'text/event-stream' };
    return Promise.resolve(new Response(body, { headers }));
  });
  let send = (_data: object) => {};
  const watch = new UpstreamWatch(endpoint, {
    transport: 'sse',
    maxBytes: 1e6,
    onEvent() {},
    onUpdated() {},
    uris: async () => [],
    wantsLists: false,
    memory: { find: async () => undefined, keep: async () => {}, drop: async () => {} },
  });
  const deadline = createDeadline(60_000);
  const discovering = watch.discover(deadline).catch(() => {});
  const answer = await onInitialize.promise;
  watch.close();
  answer();
  await discovering;
  deadline.release();
  expect(open).toBe(0);
});
