/** A legacy server that checks by pings whether its monitor still listens. */
import { afterEach, expect, it, vi } from 'vitest';
import { ChangeStreams } from '../../../src/upstream/discovery/change-streams.ts';
import type { WatchOptions } from '../../../src/upstream/discovery/watch-options.ts';
import { endpoint, inSession } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

it('[MCP-4] [UP-1] gets its pings answered in its session', async () => {
  const posted: unknown[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    if (init?.method === 'POST') {
      const sessionId = new Headers(init.headers).get('mcp-session-id');
      posted.push([sessionId, JSON.parse(String(init.body))]);
      return new Response(null, { status: 202 });
    }
    const ping = 'data: {"jsonrpc":"2.0","id":"p1","method":"ping"}\n\n';
    return new Response(ping, { headers: { 'content-type': 'text/event-stream' } });
  });
  const options = { wantsLists: true, uris: async () => [], onEvent() {} };
  const streams = new ChangeStreams(endpoint, options as unknown as WatchOptions, () => {});
  expect(await streams.open(inSession('u'), () => true)).toBe(true);
  await vi.waitFor(() => expect(posted).toHaveLength(1));
  expect(posted).toEqual([['u', { jsonrpc: '2.0', id: 'p1', result: {} }]]);
  streams.close();
});
