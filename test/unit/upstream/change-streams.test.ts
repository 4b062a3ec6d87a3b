/** The change stream of a monitor at a legacy server. */
import { afterEach, expect, it, vi } from 'vitest';
import { ChangeStreams } from '../../../src/upstream/discovery/change-streams.ts';
import type { WatchOptions } from '../../../src/upstream/discovery/watch-options.ts';
import { endpoint, inSession } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

it('[MCP-4] [UP-2] is opened in the new session, though one in the old session was waiting to be opened', async () => {
  const opened: (string | null)[] = [];
  const first = Promise.withResolvers<void>();
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    const isFirst = opened.push(new Headers(init?.headers).get('mcp-session-id')) === 1;
    if (isFirst) await first.promise;
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(new ReadableStream<Uint8Array>(), { headers });
  });
  const options = { wantsLists: true, uris: async () => [], onEvent() {} };
  const streams = new ChangeStreams(endpoint, options as unknown as WatchOptions, () => {});
  let current = 'old';
  const open = (session: string) => streams.open(inSession(session), () => current === session);
  const before = [open('old'), open('old')];
  await vi.waitFor(() => expect(opened).toEqual(['old']));
  // The second of them waits for the first.
  before.push(open('old'));
  current = 'new';
  const now = open('new');
  first.resolve();
  expect(await now).toBe(true);
  await Promise.all(before);
  expect(opened).toEqual(['old', 'new']);
  streams.close();
});
