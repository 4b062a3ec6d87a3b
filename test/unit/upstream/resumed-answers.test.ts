/** An answer whose stream ends before the response is resumed after the last event that came whole. */
import { afterEach, expect, it, vi } from 'vitest';
import { createHttpChannel } from '../../../src/upstream/session/channel.ts';
import { createDeadline } from '../../../src/http/deadline.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

const PROTOCOL = { era: 'legacy', protocolVersion: '2025-11-25', sessionId: 's' } as const;
const PRIMING = 'id: 1\nretry: 1\ndata:\n\n';

/** Calls a tool at a server that sends these parts, one at each connection; `$ID` is the request's. @returns the resumed event ids, and the result */
async function call(parts: readonly string[]) {
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
  const channel = createHttpChannel(endpoint, PROTOCOL, 1_000_000);
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
