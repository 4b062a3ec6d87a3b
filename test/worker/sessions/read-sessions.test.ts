/** The Worker's side of the notification streams that it reads for a client's object: what it tells the object of their end. */
import { describe, expect, it, vi } from 'vitest';
import { readSessions } from '../../../src/sessions/read-sessions.ts';
import type { ReaderEvent, ReaderOrder } from '../../../src/sessions/own-reader.ts';
import { FrameReader, sendFrame } from '../../../src/sessions/stream-frames.ts';
import type { UpstreamEndpoint } from '../../../src/upstream/endpoint.ts';
import { PATIENT } from '../support/portico.ts';

const PLACE = {
  serverId: 's',
  session: { sessionId: 'u', protocolVersion: '2025-11-25', credentialKey: 'k' },
};

/** A server whose streams stay open, as long as the client may reach it. */
function createServer() {
  const server = { isThere: true, opened: 0 };
  const endpoint: UpstreamEndpoint = {
    serverId: 's',
    name: 's',
    url: 'https://server.example/mcp',
    headers: {},
    hidden: [],
    credentialKey: 'k',
    fetch: () => {
      server.opened += 1;
      const headers = { 'content-type': 'text/event-stream' };
      return Promise.resolve(new Response(new ReadableStream(), { headers }));
    },
  };
  const endpointOf = () =>
    server.isThere ? Promise.resolve(endpoint) : Promise.reject(new Error('disconnected'));
  return { server, endpointOf };
}

describe('[MCP-4] a notification stream that a Worker reads', () => {
  it('is reported as closed when the server is disconnected, and is read again when it is back', async () => {
    const { server, endpointOf } = createServer();
    const { 0: worker, 1: object } = new WebSocketPair();
    const states: string[] = [];
    const frames = new FrameReader();
    object.accept();
    object.addEventListener('message', ({ data }) => {
      const frame = frames.push(String(data));
      const event = frame && (JSON.parse(frame.text) as ReaderEvent);
      if (event?.kind === 'state') states.push(event.state);
    });
    const order = () =>
      sendFrame(object, {
        id: '',
        text: JSON.stringify({ kind: 'hear', ...PLACE } satisfies ReaderOrder),
      });
    const reading = readSessions(worker, { endpointOf, maxBytes: 1_000 });
    order();
    await vi.waitFor(() => expect(states).toEqual(['open']), PATIENT);
    server.isThere = false;
    await reading.check();
    await vi.waitFor(() => expect(states).toEqual(['open', 'closed']), PATIENT);
    server.isThere = true;
    order();
    await vi.waitFor(() => expect(states).toEqual(['open', 'closed', 'open']), PATIENT);
    expect(server.opened).toBe(2);
    reading.close();
  });

  it.each(['leave', 'rest'] as const)(
    'is not opened if the object orders to %s it while its server is looked up',
    async kind => {
      const { server, endpointOf } = createServer();
      const { 0: worker, 1: object } = new WebSocketPair();
      object.accept();
      const lookups: PromiseWithResolvers<void>[] = [];
      const order = (given: ReaderOrder) =>
        sendFrame(object, { id: '', text: JSON.stringify(given) });
      const reading = readSessions(worker, {
        endpointOf: async () => {
          const lookup = Promise.withResolvers<void>();
          lookups.push(lookup);
          await lookup.promise;
          return endpointOf();
        },
        maxBytes: 1_000,
      });
      order({ kind: 'hear', ...PLACE });
      await vi.waitFor(() => expect(lookups).toHaveLength(1), PATIENT);
      order(kind === 'rest' ? { kind } : { kind, serverId: 's', sessionId: 'u' });
      // The next order is obeyed after that one.
      order({ kind: 'hear', ...PLACE });
      await vi.waitFor(() => expect(lookups).toHaveLength(2), PATIENT);
      for (const { resolve } of lookups) resolve();
      await vi.waitFor(() => expect(server.opened).toBe(1), PATIENT);
      await scheduler.wait(50);
      expect(server.opened).toBe(1);
      reading.close();
    },
  );
});
