/** The console is told what changed while somebody looks, and asks by the clock where nobody tells it. */
import type { QueryClient } from '@tanstack/preact-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { beginLive, LIVE_MS, liveMs, TOLD_MS } from '../../../console/src/api/live.ts';

/** A stream of the gateway, as it is written from outside. */
interface Stream {
  write(text: string): Promise<void>;
  end(): Promise<void>;
  signal: AbortSignal | null | undefined;
}

let streams: Stream[] = [];
let asked: string[] = [];
let page: EventTarget & { hidden: boolean };
let end = () => {};

const cache = {
  invalidateQueries: ({ queryKey }: { queryKey: string[] }) => void asked.push(queryKey.join()),
} as unknown as QueryClient;
/** What waits for nothing but promises. */
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  [streams, asked] = [[], []];
  page = Object.assign(new EventTarget(), { hidden: false });
  vi.stubGlobal('document', page);
  vi.stubGlobal('location', { origin: 'https://portico.example.com' });
  vi.stubGlobal('fetch', (_url: URL, { signal }: RequestInit) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    writer.closed.catch(() => {});
    signal?.addEventListener('abort', () => void writer.abort().catch(() => {}));
    const encoder = new TextEncoder();
    streams.push({
      signal,
      async write(text) {
        void writer.write(encoder.encode(text));
        await settle();
      },
      async end() {
        void writer.close();
        await settle();
      },
    });
    return Promise.resolve(new Response(readable));
  });
  end = beginLive(cache);
});

afterEach(() => {
  end();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('[OPS-1] asks seldom while it is told, anew what changed, and often once the stream is over', async () => {
  expect([streams.length, liveMs()]).toEqual([0, LIVE_MS]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([streams.length, liveMs()]).toEqual([1, LIVE_MS]);
  await streams[0]?.write('event: watching\ndata: {}\n\n');
  expect([liveMs(), asked]).toEqual([TOLD_MS, ['servers', 'approvals', 'tools', 'explain']]);
  asked.length = 0;
  await streams[0]?.write('event: changed\ndata: {"changed":["access"]}\n\n');
  expect(asked).toEqual(['rules', 'toolsets', 'budgets', 'explain']);
  asked.length = 0;
  await streams[0]?.end();
  expect([liveMs(), asked[0], streams.length]).toEqual([LIVE_MS, 'servers', 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(streams.length).toBe(2);
  expect(liveMs()).toBe(LIVE_MS);
});

it('[OPS-1] begins again ever later where no stream comes about', async () => {
  await vi.advanceTimersByTimeAsync(1_000);
  for (const waits of [1_000, 2_000, 4_000]) {
    const before = streams.length;
    await streams.at(-1)?.end();
    await vi.advanceTimersByTimeAsync(waits - 1);
    expect([waits, streams.length]).toEqual([waits, before]);
    await vi.advanceTimersByTimeAsync(1);
    expect([waits, streams.length]).toEqual([waits, before + 1]);
  }
  expect(asked).toEqual([]);
});

it('[OPS-1] holds no stream while nobody sees the page, and begins one when somebody does', async () => {
  await vi.advanceTimersByTimeAsync(1_000);
  await streams[0]?.write('event: watching\ndata: {}\n\n');
  page.hidden = true;
  page.dispatchEvent(new Event('visibilitychange'));
  await vi.advanceTimersByTimeAsync(100_000);
  expect([streams.length, streams[0]?.signal?.aborted, liveMs()]).toEqual([1, true, LIVE_MS]);
  page.hidden = false;
  page.dispatchEvent(new Event('visibilitychange'));
  await settle();
  expect(streams.length).toBe(2);
  end();
  await vi.advanceTimersByTimeAsync(100_000);
  expect([streams.length, streams[1]?.signal?.aborted]).toEqual([2, true]);
});
