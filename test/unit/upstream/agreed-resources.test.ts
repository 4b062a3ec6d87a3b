/** Subscriptions of a monitor to resources of a modern server, which says which of them it announces. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { UpstreamWatch } from '../../../src/upstream/discovery/watch.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

/** A stream of changes: the resources that were asked for, and how to answer. */
interface Stream {
  uris: string[];
  agree(uris: readonly string[]): void;
  end(): void;
}

/** Starts a monitor's connection to a modern server. @param onStream called for each stream that it opens */
function watch(onStream: (stream: Stream) => void) {
  const uris: string[] = [];
  let negotiations = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    const { id, method, params } = JSON.parse(String(init?.body)) as {
      id: unknown;
      method: string;
      params: { notifications?: { resourceSubscriptions?: string[] } };
    };
    if (method === 'server/discover') {
      negotiations += 1;
      const result = { supportedVersions: ['2026-07-28'], capabilities: {} };
      return Response.json({ jsonrpc: '2.0', id, result });
    }
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const agree = (resourceSubscriptions: readonly string[]) => {
          const acknowledged = {
            method: 'notifications/subscriptions/acknowledged',
            params: { notifications: { resourceSubscriptions } },
          };
          const text = `data: ${JSON.stringify({ jsonrpc: '2.0', ...acknowledged })}\n\n`;
          controller.enqueue(new TextEncoder().encode(text));
        };
        const asked = params.notifications?.resourceSubscriptions ?? [];
        onStream({ uris: asked, agree, end: () => controller.close() });
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  const watching = new UpstreamWatch(endpoint, {
    transport: 'http',
    maxBytes: 1e6,
    onEvent() {},
    onUpdated() {},
    uris: async () => uris,
    wantsLists: false,
    memory: { find: async () => undefined, keep: async () => {}, drop: async () => {} },
  });
  const subscribe = async (uri: string) => {
    uris.push(uri);
    const deadline = createDeadline(60_000);
    await watching.subscribe(uri, deadline).finally(() => deadline.release());
  };
  return { subscribe, close: () => watching.close(), negotiations: () => negotiations };
}

describe('[MCP-4] [UP-1] a resource that a modern server', () => {
  const REFUSED = { code: 'upstream_4xx', message: 'The server refused the subscription' };

  it('agreed to announce is subscribed to; one that it left out is not', async () => {
    const { subscribe, close, negotiations } = watch(({ uris, agree }) =>
      agree(uris.filter(uri => uri !== 'note://b')),
    );
    await subscribe('note://a');
    await expect(subscribe('note://b')).rejects.toMatchObject(REFUSED);
    await subscribe('note://c');
    expect(negotiations()).toBe(1);
    close();
  });

  it('says nothing of, before its stream ends, is not subscribed to', async () => {
    const { subscribe, close } = watch(({ end }) => end());
    await expect(subscribe('note://a')).rejects.toMatchObject({ code: 'upstream_4xx' });
    close();
  });

  it('agreed to on the stream that took over is subscribed to', async () => {
    const first = Promise.withResolvers<void>();
    const asked: string[][] = [];
    const { subscribe, close } = watch(({ uris, agree }) => {
      if (asked.push(uris) === 1) first.resolve();
      else agree(uris);
    });
    const one = subscribe('note://a');
    await first.promise;
    await Promise.all([one, subscribe('note://b')]);
    expect(asked).toEqual([['note://a'], ['note://a', 'note://b']]);
    close();
  });
});
