/** Events during a call: its client disconnects, or its server sends messages. */
import { exports } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { streamOf } from '../support/fake-server.ts';
import {
  call,
  connect,
  createStream,
  parseEvents,
  portico,
  progress,
  readNext,
  responseTo,
} from '../support/live-calls.ts';
import { ADMIN, ORIGIN, PATIENT, SERVERS } from '../support/portico.ts';

describe('a client that disconnects', () => {
  it.each([
    ['legacy', 1],
    ['modern', 0],
  ] as const)(
    '[UP-3] before the answer aborts the request to a %s server and sends a cancellation if required',
    async (upstream, told) => {
      const { name, server } = await connect(upstream);
      const client = new AbortController();
      server.call = () => {
        client.abort();
        return new Promise<Response>(() => {});
      };
      const { message, headers } = call(name, 'legacy');
      await portico.post(message, { headers, signal: client.signal }).catch(() => undefined);
      await portico.settle();
      const [seen] = server.of('tools/call');
      expect(seen?.signal.aborted).toBe(true);
      const cancelled = server.of('notifications/cancelled');
      expect(cancelled.map(({ params }) => params['requestId'])).toEqual(
        told === 1 ? [seen?.id] : [],
      );
    },
  );

  it('[UP-3] in the middle of a stream ends it at the server, which gets a cancellation in its session', async () => {
    const { name, server } = await connect('legacy', true);
    let stream: ReturnType<typeof createStream> | undefined;
    server.call = post => {
      stream = createStream(post);
      stream.write(progress(1));
      return stream.response;
    };
    const { message, headers } = call(name, 'modern');
    const client = new AbortController();
    const response = await portico.post(message, { headers, signal: client.signal });
    const reader = response.body?.getReader();
    await readNext(reader);
    client.abort();
    await reader?.cancel();
    await portico.settle();
    const [seen] = server.of('tools/call');
    await vi.waitFor(() => expect(server.of('notifications/cancelled')).toHaveLength(1), PATIENT);
    const [cancelled] = server.of('notifications/cancelled');
    expect(cancelled?.params).toEqual({ requestId: seen?.id });
    expect(cancelled?.session).toBe(seen?.session);
    expect(stream?.state.cancelled || seen?.signal.aborted).toBe(true);
  });
});

describe('a connection that is dropped', () => {
  it.each(['before the answer', 'in the middle of it'])(
    '[UP-3] %s ends the call, also across the boundary of the runtime',
    async when => {
      const { name, server, id } = await connect('legacy', true);
      const credential = { authorization: `Bearer ${ADMIN}` };
      const client = new AbortController();
      server.call = post => {
        const stream = createStream(post);
        if (when === 'before the answer') client.abort();
        else stream.write(progress(1));
        return when === 'before the answer' ? new Promise<Response>(() => {}) : stream.response;
      };
      const { message, headers } = call(name, 'modern');
      await exports.default.fetch(`${ORIGIN}${SERVERS}/${id}`, { headers: credential });
      const asked = exports.default.fetch(`${ORIGIN}/mcp`, {
        method: 'POST',
        headers: { ...headers, ...credential, 'content-type': 'application/json' },
        body: JSON.stringify(message),
        signal: client.signal,
      });
      const answered = asked.catch(() => undefined);
      await vi.waitFor(() => expect(server.of('tools/call')).toHaveLength(1), PATIENT);
      const response = await answered;
      if (when === 'in the middle of it') await readNext(response?.body?.getReader());
      client.abort();
      const [seen] = server.of('tools/call');
      expect(seen).toBeDefined();
      await vi.waitFor(() => expect(server.of('notifications/cancelled')).toHaveLength(1), PATIENT);
      expect(seen?.signal.aborted).toBe(true);
      expect(server.of('notifications/cancelled')[0]?.params).toEqual({ requestId: seen?.id });
    },
  );
});

describe('a server that sends a message during a call', () => {
  it('[MCP-5] gets its ping answered, and the client sees nothing of it', async () => {
    const { name, server } = await connect('legacy');
    server.call = post =>
      streamOf({ jsonrpc: '2.0', id: 'q1', method: 'ping' }, progress(1), responseTo(post));
    const { message, headers } = call(name, 'modern');
    const events = parseEvents(await (await portico.post(message, { headers })).text());
    expect(events).toHaveLength(2);
    await portico.settle();
    const answers = server.posts.filter(({ method, id }) => method === undefined && id === 'q1');
    expect(answers.map(({ text }) => JSON.parse(text) as unknown)).toEqual([
      { jsonrpc: '2.0', id: 'q1', result: {} },
    ]);
  });

  it('[MCP-5] gets no response if it is modern and sent a request all the same', async () => {
    const { name, server } = await connect('modern');
    server.call = post =>
      streamOf(
        { jsonrpc: '2.0', id: 'q1', method: 'ping' },
        { jsonrpc: '2.0', id: 'q2', method: 'roots/list' },
        responseTo(post),
      );
    const { message, headers } = call(name, 'modern');
    expect(await (await portico.post(message, { headers })).text()).toContain('done');
    await portico.settle();
    expect(server.posts.filter(({ method }) => method === undefined)).toEqual([]);
  });

  it('[REG-5] that announces a change is discovered again', async () => {
    const { name, server } = await connect('legacy');
    const lists = server.of('tools/list').length;
    server.call = post =>
      streamOf({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, responseTo(post));
    const { message, headers } = call(name, 'legacy');
    expect(await (await portico.post(message, { headers })).text()).toContain('done');
    await portico.settle();
    await vi.waitFor(() => expect(server.of('tools/list').length).toBeGreaterThan(lists), PATIENT);
  });
});
