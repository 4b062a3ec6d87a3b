/** A server that never stops sending on a notification stream. */
import { expect, it, vi } from 'vitest';
import { MODERN_VERSION } from '../../../src/shared/protocol.ts';
import { listen } from '../../../src/upstream/streams/listen.ts';
import { openReading } from '../../../src/upstream/streams/stream-reader.ts';
import { pacedWakes } from '../../../src/upstream/server-messages.ts';
import { endpoint, inSession } from './a-destination.ts';

const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const PER_SECOND = 1_000;
const MOST_PONGS = 20;

/** Events in pieces of many, without end. */
function flood(text: string): Response {
  const piece = new TextEncoder().encode(`data: ${text}\n\n`.repeat(200));
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // Lets timers run.
      await new Promise(resolve => setImmediate(resolve));
      controller.enqueue(piece);
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** The most events that may have been read since a time. */
const mostSince = (startedAt: number) =>
  PER_SECOND * (1 + Math.floor((Date.now() - startedAt) / 1_000));

it('[SEC-9] [MCP-4] is read by its monitor a thousand events in a second at most', async () => {
  const startedAt = Date.now();
  const ended = new AbortController();
  let events = 0;
  const server = { ...endpoint, fetch: async () => flood(CHANGED) };
  const protocol = { era: 'modern' as const, protocolVersion: MODERN_VERSION };
  const wanted = { lists: ['tools'], uris: [] };
  await listen(server, protocol, wanted, () => (events += 1), ended.signal);
  await vi.waitFor(() => expect(events).toBeGreaterThanOrEqual(PER_SECOND), 10_000);
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(events).toBeLessThanOrEqual(mostSince(startedAt));
  ended.abort();
});

it('[SEC-9] [MCP-4] is read for its calls a thousand events in a second at most', async () => {
  const startedAt = Date.now();
  const ended = new AbortController();
  let events = 0;
  await openReading({
    endpoint: () => ({ ...endpoint, fetch: async () => flood(CHANGED) }),
    protocol: inSession('u').protocol,
    maxBytes: 1_000,
    take: () => (events += 1),
    maxFailures: 1,
    maxRestMs: 1,
    signal: ended.signal,
    onEnd() {},
  });
  await vi.waitFor(() => expect(events).toBeGreaterThanOrEqual(PER_SECOND), 10_000);
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(events).toBeLessThanOrEqual(mostSince(startedAt));
  ended.abort();
});

it('[SEC-9] [MCP-4] gets answers to a few of its pings if it does not take them', async () => {
  const ended = new AbortController();
  let pings = 0;
  let answers = 0;
  const fetch = async (_url: string, init: RequestInit) => {
    if (init.method !== 'POST') return flood('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    answers += 1;
    return new Promise<Response>(() => {});
  };
  const { protocol } = inSession('u');
  const wanted = { lists: ['tools'], uris: [] };
  await listen({ ...endpoint, fetch }, protocol, wanted, () => (pings += 1), ended.signal);
  await vi.waitFor(() => expect(pings).toBeGreaterThanOrEqual(PER_SECOND), 10_000);
  expect(answers).toBe(MOST_PONGS);
  ended.abort();
});

it('[REG-4] [MCP-12] wakes its monitor now and then, and once more after its last change', async () => {
  let now = 10_000;
  const waits: { ms: number; go: () => void }[] = [];
  const woken: string[] = [];
  const wake = pacedWakes(
    async id => woken.push(`${id} ${now}`),
    2_000,
    ms => new Promise<void>(go => waits.push({ ms, go })),
    () => now,
  );
  void wake('a');
  void wake('b');
  now += 500;
  const later = Array.from({ length: 50 }, () => wake('a'));
  expect(woken).toEqual(['a 10000', 'b 10000']);
  expect(waits.map(({ ms }) => ms)).toEqual([1_500]);
  now += 1_500;
  waits.forEach(({ go }) => go());
  await Promise.all(later);
  expect(woken).toEqual(['a 10000', 'b 10000', 'a 12000']);
  now += 2_000;
  await wake('a');
  expect(woken.at(-1)).toBe('a 14000');
});
