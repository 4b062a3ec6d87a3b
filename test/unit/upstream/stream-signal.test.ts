/** The signal that ends the reading of a notification stream outlives many connections. */
import { getEventListeners } from 'node:events';
import { afterEach, expect, it, vi } from 'vitest';
import { openReading } from '../../../src/upstream/streams/stream-reader.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

const READING = {
  endpoint: () => endpoint,
  protocol: { era: 'legacy', protocolVersion: '2025-11-25', sessionId: 's' },
  maxBytes: 1e6,
  take() {},
  maxFailures: 2,
  maxRestMs: 1,
  onEnd() {},
} as const;
const CONNECTIONS = 20;

it('[UP-1] keeps no listener of a connection that is over', async () => {
  const ended = new AbortController();
  const all = Promise.withResolvers<void>();
  let opened = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    opened += 1;
    if (opened > CONNECTIONS) all.resolve();
    const text = 'retry: 1\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n';
    const body = opened > CONNECTIONS ? new ReadableStream<Uint8Array>() : text;
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  await openReading({ ...READING, signal: ended.signal });
  await all.promise;
  // What is left belongs to the connection that is open.
  expect(getEventListeners(ended.signal, 'abort').length).toBeLessThanOrEqual(2);
  ended.abort();
});

it('[UP-1] ends the connection that is open', async () => {
  const ended = new AbortController();
  let cancelled = false;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    const body = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  await openReading({ ...READING, signal: ended.signal });
  ended.abort();
  await vi.waitFor(() => expect(cancelled).toBe(true));
});

it('[UP-1] [MCP-12] waits before each attempt, longer each time, though the server names no pause', async () => {
  vi.useFakeTimers();
  const ended = new AbortController();
  let opened = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    opened += 1;
    return new Response('retry: 0\n\n', { headers: { 'content-type': 'text/event-stream' } });
  });
  const reading = { ...READING, maxFailures: Infinity, maxRestMs: 1_000, signal: ended.signal };
  await openReading(reading);
  await vi.advanceTimersByTimeAsync(10_000);
  // After 100, 200, 400 and 800 ms, then every second.
  expect(opened).toBe(13);
  ended.abort();
  vi.useRealTimers();
});

it('[UP-1] a server that has its stream polled is asked again after its pause, as long as it answers', async () => {
  vi.useFakeTimers();
  const ended = new AbortController();
  let opened = 0;
  let isOver = false;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    opened += 1;
    const headers = { 'content-type': 'text/event-stream' };
    return new Response('id: 1\nretry: 2000\ndata:\n\n', { headers });
  });
  const onEnd = () => void (isOver = true);
  const reading = { ...READING, maxFailures: 2, maxRestMs: 30_000, signal: ended.signal };
  await openReading({ ...reading, onEnd });
  await vi.advanceTimersByTimeAsync(61_000);
  ended.abort();
  vi.useRealTimers();
  expect(isOver).toBe(false);
  expect(opened).toBe(31);
});
