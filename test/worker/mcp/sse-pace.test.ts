/** A slow HTTP+SSE client: a bounded amount is read for it, and one that reads nothing is disconnected. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BytesInFlight } from '../../../src/shared/limits/bytes-in-flight.ts';
import { sseResponse } from '../../../src/mcp/sse/sse-session.ts';
import { toPieces } from '../../../src/sessions/stream-frames.ts';
import { PATIENT } from '../support/portico.ts';

const MIB = 1_048_576;
const CALLS = 40;

afterEach(() => void vi.restoreAllMocks());

/** A client that sent calls, each of which is answered with a megabyte. */
function crowded(stalledMs = 60_000, type = 'application/json') {
  const count = new BytesInFlight({
    isolateBytes: 256 * MIB,
    principalBytes: 192 * MIB,
    waitMs: 1_000,
    stalledMs,
  });
  const held = count.request('p');
  const state = { read: 0, isOver: false };
  const { 0: object, 1: worker } = new WebSocketPair();
  object.accept();
  const bodyOf = (id: string) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(MIB) } });
    const whole = type === 'application/json' ? text : `data: ${text}\n\n`;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      state.read += 1;
      controller.enqueue(new TextEncoder().encode(whole));
      controller.close();
    };
    return new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
  };
  const response = sseResponse(worker, {
    endpoint: '/messages',
    signal: new AbortController().signal,
    keepAliveMs: 60_000,
    release() {
      state.isOver = true;
      held.release();
    },
    bytes: held,
    authorization: '',
    isOwn: () => Promise.resolve(true),
    waitUntil: () => {},
    serveMessage: (_incoming, text) => {
      const { id } = JSON.parse(text) as { id: string };
      return Promise.resolve(new Response(bodyOf(id), { headers: { 'content-type': type } }));
    },
    openStream: () => Promise.reject(new Error('no session was opened')),
    endSession: () => Promise.reject(new Error('no session was opened')),
  });
  for (let id = 0; id < CALLS; id += 1) {
    const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call' });
    for (const piece of toPieces({ id: '', text })) object.send(piece);
  }
  return { count, state, response, object };
}

describe('[SEC-9] a slow client of HTTP+SSE', () => {
  it('has few of its responses in memory, and gets all of them once it reads', async () => {
    const { count, state, response, object } = crowded();
    await vi.waitFor(() => expect(state.read).toBeGreaterThanOrEqual(8), PATIENT);
    await new Promise(resolve => setTimeout(resolve, 300));
    expect(state.read).toBeLessThan(12);
    expect(count.used).toBeLessThan(12 * MIB);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const ids = () => [...text.matchAll(/"id":(\d+)/gu)].map(([, id]) => Number(id));
    // The padding of the responses is dropped: searching all of it after each chunk takes half a minute.
    while (ids().length < CALLS || !text.endsWith('\n\n')) {
      text += (await reader?.read())?.value?.replaceAll(/x+/gu, '');
    }
    expect(ids().toSorted((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_, id) => id));
    await vi.waitFor(() => expect(count.used).toBe(0), PATIENT);
    await reader?.cancel();
    expect([state.isOver, count.open]).toEqual([true, 0]);
    object.close();
  });

  it.each(['application/json', 'text/event-stream'])(
    'that reads nothing is disconnected, and nothing of its responses (%s) stays',
    async type => {
      const { count, state, object } = crowded(200, type);
      await vi.waitFor(() => expect(state.isOver).toBe(true), PATIENT);
      expect([count.used, count.open]).toEqual([0, 0]);
      object.close();
    },
  );
});
