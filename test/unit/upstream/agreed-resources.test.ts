/** Subscriptions of a monitor to resources of a modern server, which says which of them it announces. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { UpstreamWatch } from '../../../src/upstream/discovery/watch.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

/** A stream of changes: the resources that were asked for, and how to answer. */
interface Stream {
  uris: string[];
  /** Aborts when the monitor hangs up. */
  signal: AbortSignal | null | undefined;
  agree(uris: readonly string[]): void;
  end(): void;
}

/** Starts a monitor's connection to a modern server. @param onStream called for each stream that it opens */
function watch(onStream: (stream: Stream) => void) {
  const uris: string[] = [];
  const server = { isBusy: false };
  let negotiations = 0;
  let events = 0;
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
    if (server.isBusy) return new Response('busy', { status: 503 });
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
        onStream({ uris: asked, agree, end: () => controller.close(), signal: init?.signal });
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  const watching = new UpstreamWatch(endpoint, {
    transport: 'http',
    maxBytes: 1e6,
    onEvent: () => void (events += 1),
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
  const unsubscribe = async (uri: string) => {
    uris.splice(uris.indexOf(uri), 1);
    await watching.unsubscribe(uri);
  };
  return {
    server,
    subscribe,
    unsubscribe,
    close: () => watching.close(),
    negotiations: () => negotiations,
    events: () => events,
  };
}

const REFUSED = { code: 'upstream_4xx', message: 'The server refused the subscription' };
/** No refusal: an earlier subscription of the same client stays. */
const SILENT = {
  code: 'upstream_no_response',
  message: 'The server did not confirm the subscription',
};

describe('[MCP-4] [UP-1] a resource that a modern server', () => {
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
    await expect(subscribe('note://a')).rejects.toMatchObject(SILENT);
    close();
  });

  it('cannot open a stream for is not subscribed to, and the others go on being announced', async () => {
    const streams: Stream[] = [];
    const { server, subscribe, close, negotiations } = watch(stream => {
      streams.push(stream);
      stream.agree(stream.uris);
    });
    await subscribe('note://a');
    server.isBusy = true;
    await expect(subscribe('note://b')).rejects.toMatchObject(SILENT);
    expect(streams.map(({ signal }) => signal?.aborted)).toEqual([false]);
    expect(negotiations()).toBe(1);
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

describe('[MCP-4] [EDGE-2] the streams on which a modern server announces changes', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Opens a stream that agrees, then others that say nothing, each for one more resource. */
  async function watchSilent(count: number) {
    const streams: Stream[] = [];
    const watching = watch(stream => {
      if (streams.push(stream) === 1) stream.agree(stream.uris);
    });
    await watching.subscribe('note://0');
    for (let n = 1; n <= count; n += 1) {
      const subscribing = watching.subscribe(`note://${n}`).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await subscribing).toMatchObject(SILENT);
    }
    const open = () => streams.map(({ signal }) => signal?.aborted === false);
    return { ...watching, streams, open };
  }

  it('are two at most, however many say nothing, and none once the monitor closes them', async () => {
    const { open, close } = await watchSilent(3);
    expect(open()).toEqual([true, false, false, true]);
    close();
    expect(open()).toEqual([false, false, false, false]);
  });

  it('are replaced by one that says something later', async () => {
    const { open, streams, close } = await watchSilent(1);
    expect(open()).toEqual([true, true]);
    streams[1]?.agree([]);
    await vi.advanceTimersByTimeAsync(0);
    expect(open()).toEqual([false, true]);
    close();
  });

  it('are left to the last that said something, if the next ends without a word', async () => {
    const { open, streams, unsubscribe, close, events } = await watchSilent(1);
    streams[1]?.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(open()[0]).toBe(true);
    expect(events()).toBe(0);
    streams[0]?.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(events()).toBe(1);
    await unsubscribe('note://0');
    close();
  });

  it('end with the last subscription, which is no reason for a discovery', async () => {
    const { open, unsubscribe, events } = await watchSilent(0);
    await vi.advanceTimersByTimeAsync(60_000);
    await unsubscribe('note://0');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(open()).toEqual([false]);
    expect(events()).toBe(0);
  });
});
