/** An answer whose stream ends before the response is resumed after the last event that came whole. */
import { afterEach, expect, it, vi } from 'vitest';
import { createHttpChannel } from '../../../src/upstream/session/channel.ts';
import { createDeadline } from '../../../src/http/deadline.ts';
import type { NegotiatedProtocol } from '../../../src/upstream/protocol/wire-request.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

const PROTOCOL = { era: 'legacy', protocolVersion: '2025-11-25', sessionId: 's' } as const;
const PRIMING = 'id: 1\nretry: 1\ndata:\n\n';

/** Calls a tool at a server that sends these parts, one at each connection; `$ID` is the request's. @returns the resumed event ids, and the result */
async function call(parts: readonly string[], protocol: NegotiatedProtocol = PROTOCOL) {
  const resumed: (string | null)[] = [];
  let id: unknown;
  vi.spyOn(globalThis, 'fetch').mockImplementation((_input, init) => {
    if (init?.method === 'POST') ({ id } = JSON.parse(String(init.body)) as { id: unknown });
    else resumed.push(new Headers(init?.headers).get('last-event-id'));
    const part = (parts[resumed.length] ?? '').replaceAll('$ID', String(id));
    const headers = { 'content-type': 'text/event-stream' };
    return Promise.resolve(new Response(part, { headers }));
  });
  const deadline = createDeadline(60_000);
  const channel = createHttpChannel(endpoint, protocol, 1_000_000);
  try {
    return { answer: await channel.request('tools/call', new Map(), deadline), resumed };
  } finally {
    deadline.release();
  }
}

const RESPONSE = 'data: {"jsonrpc":"2.0","id":$ID,"result":{"n":1}}\n\n';

it('[UP-1] an event that is cut off is requested again', async () => {
  const { answer, resumed } = await call([
    `${PRIMING}id: 2\ndata: {"jsonrpc"`,
    `id: 2\n${RESPONSE}`,
  ]);
  expect(answer).toMatchObject({ result: '{"n":1}' });
  expect(resumed).toEqual(['1']);
});

it('[UP-1] a server that ends a resumed connection without an event is asked again from the same place', async () => {
  const { answer, resumed } = await call([PRIMING, ': wait\n\n', '', `id: 2\n${RESPONSE}`]);
  expect(answer).toMatchObject({ result: '{"n":1}' });
  expect(resumed).toEqual(['1', '1', '1']);
});

it('[UP-1] a server without sessions is asked too', async () => {
  const parts = [PRIMING, `id: 2\n${RESPONSE}`];
  const { answer, resumed } = await call(parts, { era: 'legacy', protocolVersion: '2025-11-25' });
  expect(answer).toMatchObject({ result: '{"n":1}' });
  expect(resumed).toEqual(['1']);
});

it('[UP-1] a server that has its answer polled is asked for as long as the call may take', async () => {
  vi.useFakeTimers();
  try {
    const polls = Array.from({ length: 50 }, () => ': wait\n\n');
    const called = call([PRIMING, ...polls, `id: 2\n${RESPONSE}`]);
    await vi.advanceTimersByTimeAsync(30_000);
    const { answer, resumed } = await called;
    expect(answer).toMatchObject({ result: '{"n":1}' });
    expect(resumed).toHaveLength(51);
  } finally {
    vi.useRealTimers();
  }
});

it('[UP-1] a modern server, whose streams cannot be resumed, is not asked', async () => {
  const modern = { era: 'modern', protocolVersion: '2026-07-28' } as const;
  await expect(call([PRIMING, RESPONSE], modern)).rejects.toMatchObject({
    code: 'upstream_no_response',
  });
  expect(vi.mocked(fetch)).toHaveBeenCalledOnce();
});
