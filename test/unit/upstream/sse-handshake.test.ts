/** Connections to servers of the HTTP+SSE transport that refuse: what is told, and that nothing stays open. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { initializeSse } from '../../../src/upstream/session/handshake.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

/** Connects to a server. @param answer answers a POST; `send` puts an event on the stream */
async function connect(
  stream: { status?: number; type?: string },
  answer: (message: { id: unknown; method: string }, send: (data: object) => void) => Response,
  timeoutMs = 60_000,
) {
  const posted: string[] = [];
  let isOpen = false;
  vi.spyOn(globalThis, 'fetch').mockImplementation((_input, init) => {
    if (init?.method === 'POST') {
      const message = JSON.parse(String(init.body)) as { id: unknown; method: string };
      posted.push(message.method);
      return Promise.resolve(answer(message, send));
    }
    init?.signal?.addEventListener('abort', () => (isOpen = false));
    isOpen = true;
    const headers = { 'content-type': stream.type ?? 'text/event-stream', 'retry-after': '7' };
    return Promise.resolve(new Response(body, { status: stream.status ?? 200, headers }));
  });
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(opened) {
      controller = opened;
      controller.enqueue(encoder.encode('event: endpoint\ndata: /messages\n\n'));
    },
    cancel: () => void (isOpen = false),
  });
  const send = (data: object) =>
    controller.enqueue(encoder.encode(`data: ${JSON.stringify(data)}\n\n`));
  const deadline = createDeadline(timeoutMs);
  const thrown: unknown = await initializeSse(endpoint, { maxBytes: 1e6 }, deadline).then(
    () => undefined,
    (error: unknown) => error,
  );
  deadline.release();
  return { thrown, posted, isOpen };
}

const accepted = () => new Response(null, { status: 202 });

describe('a handshake that fails', () => {
  it('[UP-1] closes the stream of a server that refuses to initialize', async () => {
    const { thrown, isOpen } = await connect({}, ({ id }, send) => {
      send({ jsonrpc: '2.0', id, error: { code: -32000, message: 'no' } });
      return accepted();
    });
    expect(thrown).toMatchObject({ code: 'upstream_4xx' });
    expect(isOpen).toBe(false);
  });

  it('[UP-1] closes the stream of a silent server, and does not cancel `initialize`', async () => {
    const { thrown, posted, isOpen } = await connect({}, accepted, 50);
    expect(thrown).toMatchObject({ code: 'upstream_timeout' });
    expect(posted).toEqual(['initialize']);
    expect(isOpen).toBe(false);
  });
});

it.each([
  [503, 'upstream_5xx'],
  [429, 'upstream_rate_limited'],
  [307, 'upstream_redirect'],
  [404, 'upstream_4xx'],
])('[UP-1] a stream and a message that get %i are %s', async (status, code) => {
  const opened = await connect({ status }, accepted);
  expect(opened).toMatchObject({ thrown: { code }, isOpen: false });
  const sent = await connect({}, () => new Response(null, { status }));
  expect(sent).toMatchObject({ thrown: { code }, isOpen: false });
});

it('[UP-1] a page in place of the stream is an answer of the wrong type', async () => {
  const { thrown } = await connect({ type: 'text/html' }, accepted);
  expect(thrown).toMatchObject({ code: 'upstream_bad_content_type' });
});
