/** A handshake over Streamable HTTP that fails. */
import { afterEach, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { initializeHttp } from '../../../src/upstream/session/handshake.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

it.each([
  ['refuses `notifications/initialized`', { protocolVersion: '2025-11-25' }, 'upstream_5xx'],
  ['speaks an unknown revision', { protocolVersion: '1999-01-01' }, 'upstream_bad_message'],
])('[UP-1] ends the session of a server that %s', async (_what, spoken, code) => {
  const ended: (string | null)[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    const headers = { 'mcp-session-id': 'opened' };
    if (init?.method === 'DELETE') {
      ended.push(new Headers(init.headers).get('mcp-session-id'));
      return new Response(null, { status: 204 });
    }
    const { id, method } = JSON.parse(String(init?.body)) as { id: unknown; method: string };
    if (method !== 'initialize') return new Response(null, { status: 500 });
    const result = { ...spoken, capabilities: {}, serverInfo: {} };
    return Response.json({ jsonrpc: '2.0', id, result }, { headers });
  });
  const deadline = createDeadline(60_000);
  const opening = initializeHttp(endpoint, deadline, 1e6);
  await expect(opening).rejects.toMatchObject({ code });
  deadline.release();
  expect(ended).toEqual(['opened']);
});

it.each([
  ['it says', { code: -32600, message: 'No key was given' }, / \(-32600: No key was given\)$/],
  ['is known', 'no error', /^The answer is not a JSON-RPC response/],
])(
  '[UP-1] an answer that names no request is a failure that tells what %s',
  async (_what, error, message) => {
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(
      Response.json({ jsonrpc: '2.0', id: null, error }),
    );
    const deadline = createDeadline(60_000);
    const opening = initializeHttp(endpoint, deadline, 1e6).finally(() => deadline.release());
    await expect(opening).rejects.toMatchObject({
      code: 'upstream_bad_message',
      message: expect.stringMatching(message) as unknown,
    });
  },
);
