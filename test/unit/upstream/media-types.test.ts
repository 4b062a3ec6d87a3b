/** Streams of servers that write their media type with capitals: its case means nothing (RFC 9110, section 8.3.1). */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDeadline, type Deadline } from '../../../src/http/deadline.ts';
import { createHttpChannel } from '../../../src/upstream/session/channel.ts';
import { listen } from '../../../src/upstream/streams/listen.ts';
import { openSse } from '../../../src/upstream/streams/sse-connection.ts';
import { openReading } from '../../../src/upstream/streams/stream-reader.ts';
import { endpoint } from './a-destination.ts';

const SESSION = { era: 'legacy', protocolVersion: '2025-11-25', sessionId: 's' } as const;
let deadline: Deadline;

beforeEach(() => {
  deadline = createDeadline(60_000);
});
afterEach(() => {
  deadline.release();
  vi.restoreAllMocks();
});

/** Answers each GET with a stream of this text; a POST with one that ends before its response. */
function serve(text: (id: unknown) => string) {
  let id: unknown;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    const isPost = init?.method === 'POST';
    if (isPost) ({ id } = JSON.parse(String(init.body)) as { id: unknown });
    const headers = { 'content-type': 'Text/Event-Stream; Charset=UTF-8' };
    return new Response(isPost ? 'id: 1\nretry: 1\ndata:\n\n' : text(id), { headers });
  });
}

it('[UP-1] the stream of a connection over HTTP+SSE is opened', async () => {
  serve(() => 'event: endpoint\ndata: /messages\n\n');
  const connection = await openSse(endpoint, { maxBytes: 1e6 }, deadline);
  expect(connection.upstreamEndpoint).toBe(endpoint);
  connection.close();
});

it('[UP-1] the stream that announces changes is opened', async () => {
  serve(() => '');
  const wanted = { lists: [], uris: [] };
  expect(await listen(endpoint, SESSION, wanted, () => {}, deadline.signal)).toBeDefined();
});

it('[UP-1] the stream of a session is opened', async () => {
  serve(() => '');
  const ended = new AbortController();
  const state = await openReading({
    endpoint: () => endpoint,
    protocol: SESSION,
    maxBytes: 1e6,
    take() {},
    maxFailures: 1,
    maxRestMs: 1,
    signal: ended.signal,
    onEnd() {},
  });
  ended.abort();
  expect(state).toBe('open');
});

it('[UP-1] an answer that broke off is resumed', async () => {
  serve(id => `data: {"jsonrpc":"2.0","id":${String(id)},"result":{"n":1}}\n\n`);
  const channel = createHttpChannel(endpoint, SESSION, 1e6);
  const answer = await channel.request('tools/call', new Map(), deadline);
  expect(answer).toMatchObject({ result: '{"n":1}' });
});
