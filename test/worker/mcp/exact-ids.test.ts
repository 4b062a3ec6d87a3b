/** Requests under ids beyond 2^53: answered, cancelled and refused under their exact digits, on every path. */
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeServer, resultOf, serve, streamOf, type SeenPost } from '../support/fake-server.ts';
import { holdTimers } from '../support/held-timers.ts';
import {
  ADMIN,
  PATIENT,
  createPortico,
  initialize,
  inSession,
  legacy,
  modern,
  registerConnected,
} from '../support/portico.ts';
import { readStream } from '../support/event-streams.ts';

const portico = createPortico();
const server = new FakeServer({ listChanged: true });
const BIG = '9007199254740993';
const NEXT = '9007199254740994';
/** Placeholder for an id in messages that are built as objects. */
const MARK = '@id';
const textOf = (message: unknown, id = BIG) =>
  JSON.stringify(message).replaceAll(JSON.stringify(MARK), id);
const call = { name: 'exact.echo', arguments: {} };

beforeAll(async () => {
  serve({ exact: server });
  await registerConnected(portico, 'exact');
});
beforeEach(() => {
  serve({ exact: server });
  server.posts.length = 0;
});

describe('an answer', () => {
  it.each(['tools/call', 'tools/list', 'server/discover', 'none/such'])(
    '[MCP-5] of %s repeats the digits of its request in the modern era',
    async method => {
      const { message, headers } = modern(method, method === 'tools/call' ? call : {}, MARK);
      const response = await portico.post(textOf(message), { headers });
      expect(await response.text()).toContain(`"id":${BIG},`);
    },
  );

  it.each(['tools/call', 'tools/list', 'ping', 'none/such', 'initialize'])(
    '[MCP-5] of %s repeats the digits of its request in the legacy era',
    async method => {
      const opening = { protocolVersion: '2025-11-25', capabilities: {} };
      const params = method === 'tools/call' ? call : method === 'initialize' ? opening : {};
      const response = await portico.post(textOf(legacy(method, params, MARK)));
      expect(await response.text()).toContain(`"id":${BIG},`);
    },
  );

  it('[MCP-5] repeats the digits of each request of a batch', async () => {
    const texts = [BIG, NEXT, '1'].map(id => textOf(legacy('tools/call', call, MARK), id));
    const answer = await (await portico.post(`[${texts.join(',')}]`)).text();
    expect(answer.match(/"id":\d+/gu)).toEqual([`"id":${BIG}`, `"id":${NEXT}`, '"id":1']);
  });

  it('[MCP-2] [MCP-5] repeats them over HTTP+SSE, refusals too', async () => {
    const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' };
    const stream = readStream(await portico.fetch('/sse', { headers }));
    await vi.waitFor(() => expect(stream.events).toHaveLength(1), PATIENT);
    const endpoint = stream.events[0]?.data ?? '';
    const send = (body: string) => portico.fetch(endpoint, { method: 'POST', headers, body });
    const said = () => stream.events.map(({ data }) => data ?? '').join('\n');
    await send(textOf(legacy('tools/call', call, MARK)));
    await send(textOf(legacy('none/such', {}, MARK), NEXT));
    await vi.waitFor(() => {
      expect(said()).toContain(`"id":${BIG},"result"`);
      expect(said()).toContain(`"id":${NEXT},"error"`);
    }, PATIENT);
    await stream.close();
  });

  it.each(['1.5', '1e20', `${BIG}.0`, '1'.repeat(1_001)])(
    '[MCP-5] is a refusal for an id that is no integer in digits: %s',
    async id => {
      const response = await portico.post(textOf(legacy('tools/call', call, MARK), id));
      expect([response.status, await response.json()]).toMatchObject([400, { id: null }]);
      expect(server.of('tools/call')).toEqual([]);
    },
  );
});

it('[MCP-4] [MCP-5] a subscription is named by the digits of its request', async () => {
  const { message, headers } = modern(
    'subscriptions/listen',
    { notifications: { toolsListChanged: true } },
    MARK,
  );
  const stream = readStream(await portico.post(textOf(message), { headers }));
  await vi.waitFor(() => expect(stream.events).toHaveLength(1), PATIENT);
  expect(stream.events[0]?.data).toContain(`"io.modelcontextprotocol/subscriptionId":${BIG}`);
  await stream.close();
});

it('[MCP-4] [MCP-5] a cancellation ends the call that it names, not the one with the next id', async () => {
  holdTimers(1_000);
  const held: { post: SeenPost; release: () => void }[] = [];
  server.call = post =>
    new Promise(resolve =>
      held.push({ post, release: () => resolve(resultOf(post, { content: [] })) }),
    );
  const headers = inSession(await initialize(portico));
  const answers = [BIG, NEXT].map(id =>
    portico.post(textOf(legacy('tools/call', call, MARK), id), { headers }),
  );
  await vi.waitFor(() => expect(held).toHaveLength(2), PATIENT);
  const cancelled = {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: MARK },
  };
  expect((await portico.post(textOf(cancelled), { headers })).status).toBe(202);
  expect((await answers[0])?.status).toBe(202);
  for (const { release } of held) release();
  expect(await (await answers[1])?.text()).toContain(`"id":${NEXT},`);
});

it('[MCP-2] [MCP-5] a cancellation over HTTP+SSE ends the call that it names', async () => {
  const held: { post: SeenPost; release: () => void }[] = [];
  server.call = post =>
    new Promise(resolve =>
      held.push({ post, release: () => resolve(resultOf(post, { content: [] })) }),
    );
  const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' };
  const stream = readStream(await portico.fetch('/sse', { headers }));
  await vi.waitFor(() => expect(stream.events).toHaveLength(1), PATIENT);
  const endpoint = stream.events[0]?.data ?? '';
  const send = (body: string) => portico.fetch(endpoint, { method: 'POST', headers, body });
  for (const id of [BIG, NEXT]) await send(textOf(legacy('tools/call', call, MARK), id));
  await vi.waitFor(() => expect(held).toHaveLength(2), PATIENT);
  const params = { requestId: MARK };
  await send(textOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
  await vi.waitFor(() => expect(server.of('notifications/cancelled')).toHaveLength(1), PATIENT);
  for (const { release } of held) release();
  const said = () => stream.events.map(({ data }) => data ?? '').join('\n');
  await vi.waitFor(() => expect(said()).toContain(`"id":${NEXT},"result"`), PATIENT);
  expect(said()).not.toContain(`"id":${BIG},`);
  await stream.close();
});

it('[MCP-4] [MCP-5] progress has the exact token, and a server is answered under its own id', async () => {
  server.call = async post => {
    const { progressToken } = post.params['_meta'] as { progressToken: unknown };
    const progress = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress: 1 },
    };
    const question = { jsonrpc: '2.0', id: MARK, method: 'roots/list' };
    const answer = { jsonrpc: '2.0', id: post.id, result: { content: [] } };
    const text = await streamOf(progress, question, answer).text();
    // The token as it arrived: parsed as a number it would be another one.
    const told = text.replaceAll(/"progressToken":\d+/gu, `"progressToken":${NEXT}`);
    const eventStream = { headers: { 'content-type': 'text/event-stream' } };
    return new Response(told.replaceAll(JSON.stringify(MARK), BIG), eventStream);
  };
  const headers = inSession(await initialize(portico));
  const params = { ...call, _meta: { progressToken: MARK } };
  const response = await portico.post(textOf(legacy('tools/call', params, 5), NEXT), { headers });
  expect(await response.text()).toContain(`"progressToken":${NEXT}`);
  await vi.waitFor(() => {
    const texts = server.posts.map(({ text }) => text);
    expect(texts.filter(text => text.includes(`"id":${BIG},"error"`))).toHaveLength(1);
  }, PATIENT);
});
