/**
 * Running calls at a server that is taken down: they end normally, or are cut when the drain time is over (eight seconds in this project,
 * which the tests let pass), with a reason for the caller and a message to the server.
 */
import { countAsked } from '../support/asked-objects.ts';
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  FakeServer,
  resultOf,
  serve,
  type FakeServerOptions,
  type SeenPost,
} from '../support/fake-server.ts';
import { holdPlatformTimersThat, holdRequestTimersThat } from '../support/held-timers.ts';
import {
  PATIENT,
  SERVERS,
  ask,
  createPortico,
  monitorOf,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();
/** Another isolate: changes need not reach the one that makes the calls. */
const elsewhere = createPortico();
/** A call that lasts this long opens a channel to its server's monitor. */
const LINE_AFTER_MS = 2_000;
const holdLines = () => holdRequestTimersThat(ms => ms === LINE_AFTER_MS);
afterEach(async () => {
  await portico.settle();
  await elsewhere.settle();
});

type Era = 'legacy' | 'modern';
const ERAS = ['legacy', 'modern'] as const;

interface Held {
  post: SeenPost;
  release(): void;
}

/** A server whose calls last until they are released. */
async function createHolding(name: string, options: FakeServerOptions = {}) {
  const server = new FakeServer(options);
  const held: Held[] = [];
  server.call = post =>
    new Promise(resolve =>
      held.push({
        post,
        release: () => resolve(resultOf(post, { content: [{ type: 'text', text: 'late' }] })),
      }),
    );
  serve({ [name]: server });
  const { id } = await registerConnected(portico, name);
  const lines = holdLines();
  const call = async (era: Era, number: unknown = 1, from = portico) => {
    const { message, headers } = ask(era, 'tools/call', { name: `${name}.echo` }, number);
    const response = await from.post(message, { headers });
    const text = await response.text();
    const data = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}');
    return (JSON.parse(data) as RpcAnswer).result;
  };
  /** Waits until this many calls run and are known to the monitor. */
  const begun = async (count: number) => {
    await vi.waitFor(() => expect(held).toHaveLength(count), PATIENT);
    lines.elapse();
    await vi.waitFor(async () => expect(await pendingAt(id)).toBe(count), PATIENT);
  };
  return { id, server, held, lines, call, begun };
}

/** Holds the timers that cut calls: the drain time, less the delay of the notification. */
const holdCuts = () => holdPlatformTimersThat(ms => ms > 6_000 && ms <= 8_000);
const pendingAt = (id: string) =>
  runInDurableObject(
    monitorOf(id),
    (_, state) => state.getWebSockets('call').filter(({ readyState }) => readyState === 1).length,
  );
const act = async (id: string, verb: 'connect' | 'disconnect') => {
  const response = await elsewhere.api('POST', `${SERVERS}/${id}/${verb}`);
  expect(response.status).toBe(200);
  return response.json<{ pending_requests: number }>();
};
const LATE = { content: [{ type: 'text', text: 'late' }] };
const CUT = { isError: true, _meta: { 'portico/reason': 'server_disconnected' } };

describe('a disconnect', () => {
  it.each(ERAS)(
    '[REG-3] [AG-US6-AC2] [AG-US6-AC3] counts a running %s call and lets it end normally',
    async era => {
      const { id, held, call, begun } = await createHolding(`ends-${era}`, { era });
      const answer = call(era);
      await begun(1);
      expect(await act(id, 'disconnect')).toEqual({ status: 'DISCONNECTED', pending_requests: 1 });
      expect(await call(era, 2, elsewhere)).toMatchObject(CUT);
      expect(held).toHaveLength(1);
      held[0]?.release();
      expect(await answer).toMatchObject(LATE);
      await portico.settle();
      await vi.waitFor(async () => expect(await pendingAt(id)).toBe(0), PATIENT);
    },
  );

  it('[AG-US6-AC3] before a call has a channel reaches it when it opens one', async () => {
    const { id, held, lines, call } = await createHolding('young');
    const cuts = holdCuts();
    const answer = call('modern');
    await vi.waitFor(() => expect(held).toHaveLength(1), PATIENT);
    expect(await act(id, 'disconnect')).toMatchObject({ pending_requests: 0 });
    expect(cuts.count()).toBe(0);
    lines.elapse();
    await vi.waitFor(() => expect(cuts.count()).toBe(1), PATIENT);
    cuts.elapse();
    expect(await answer).toMatchObject(CUT);
    expect(held[0]?.post.signal.aborted).toBe(true);
  });

  it.each(ERAS)(
    '[REG-3] [AG-US6-AC3] cuts a %s call that does not end: a reason for the caller, a message to the server',
    async era => {
      const { id, server, held, call, begun } = await createHolding(`hangs-${era}`, { era });
      const cuts = holdCuts();
      const answer = call(era);
      await begun(1);
      await act(id, 'disconnect');
      await vi.waitFor(() => expect(cuts.count()).toBe(1), PATIENT);
      expect(held[0]?.post.signal.aborted).toBe(false);
      cuts.elapse();
      expect(await answer).toMatchObject(CUT);
      await portico.settle();
      expect(held[0]?.post.signal.aborted).toBe(true);
      expect(server.of('notifications/cancelled')).toHaveLength(era === 'legacy' ? 1 : 0);
      expect(server.of('tools/call')).toHaveLength(1);
    },
  );

  it('[AG-US6-AC3] cuts a call whose answer has begun', async () => {
    const { id, server, lines, call } = await createHolding('streams');
    const progress = { jsonrpc: '2.0', method: 'notifications/message', params: { data: 1 } };
    let post: SeenPost | undefined;
    server.call = given => {
      post = given;
      const body = new ReadableStream<Uint8Array>({
        start: controller =>
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(progress)}\n\n`)),
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const cuts = holdCuts();
    const { message, headers } = ask('modern', 'tools/call', { name: 'streams.echo' });
    const response = portico.post(message, { headers }).then(answer => answer.text());
    await vi.waitFor(() => expect(post).toBeDefined(), PATIENT);
    lines.elapse();
    await vi.waitFor(async () => expect(await pendingAt(id)).toBe(1), PATIENT);
    await act(id, 'disconnect');
    await vi.waitFor(() => expect(cuts.count()).toBe(1), PATIENT);
    cuts.elapse();
    const text = await response;
    expect(text.match(/"portico\/reason":"server_disconnected"/g)).toHaveLength(1);
    await portico.settle();
    expect(server.of('notifications/cancelled')).toHaveLength(1);
    expect((await call('modern', 2, elsewhere))?.isError).toBe(true);
  });

  it('[AG-US6-AC3] that is reverted in time lets calls continue', async () => {
    const { id, held, call, begun } = await createHolding('back');
    const cuts = holdCuts();
    const answer = call('modern');
    await begun(1);
    await act(id, 'disconnect');
    await vi.waitFor(() => expect(cuts.count()).toBe(1), PATIENT);
    await act(id, 'connect');
    await vi.waitFor(() => expect(cuts.count()).toBe(0), PATIENT);
    cuts.elapse();
    expect(held[0]?.post.signal.aborted).toBe(false);
    held[0]?.release();
    expect(await answer).toMatchObject(LATE);
  });

  it('[AG-US6-AC3] reaches every one of twenty calls', async () => {
    const { id, held, call, begun } = await createHolding('twenty', { sessionful: false });
    const cuts = holdCuts();
    const answers = Array.from({ length: 20 }, (_, i) => call(i % 2 ? 'legacy' : 'modern', i + 1));
    await begun(20);
    expect(await act(id, 'disconnect')).toMatchObject({ pending_requests: 20 });
    await vi.waitFor(() => expect(cuts.count()).toBe(20), PATIENT);
    for (const { release } of held.slice(0, 10)) release();
    await vi.waitFor(() => expect(cuts.count()).toBe(10), PATIENT);
    cuts.elapse();
    const results = await Promise.all(answers);
    const ends = results.map(result => (result?.isError ? 'cut' : 'late'));
    expect(ends.filter(end => end === 'late')).toHaveLength(10);
    expect(ends.filter(end => end === 'cut')).toHaveLength(10);
    await portico.settle();
    await vi.waitFor(async () => expect(await pendingAt(id)).toBe(0), PATIENT);
  });
});

describe('a delete', () => {
  it('[REG-3] [AG-US6-AC6] drains too, and leaves nothing behind', async () => {
    const { id, held, call, begun } = await createHolding('deleted');
    const cuts = holdCuts();
    const ending = call('modern', 1);
    const hanging = call('modern', 2);
    await begun(2);
    expect((await elsewhere.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
    await vi.waitFor(() => expect(cuts.count()).toBe(2), PATIENT);
    held[0]?.release();
    expect(await ending).toMatchObject(LATE);
    cuts.elapse();
    expect(await hanging).toMatchObject(CUT);
    await portico.settle();
    const left = await runInDurableObject(monitorOf(id), async (_, { storage }) => [
      (await storage.list()).size,
      await storage.getAlarm(),
    ]);
    expect(left).toEqual([0, null]);
  });
});

describe('a short call', () => {
  it('[MCP-12] opens no channel to a monitor, and leaves no timer that would', async () => {
    serve({ short: new FakeServer({ sessionful: false }) });
    await registerConnected(portico, 'short');
    const { message, headers } = ask('modern', 'tools/call', { name: 'short.echo' });
    await (await portico.post(message, { headers })).text();
    await portico.settle();
    const lines = holdLines();
    const asked = countAsked(env.SERVER_MONITOR);
    await (await portico.post(message, { headers })).text();
    await portico.settle();
    const told = asked();
    lines.elapse();
    expect([told, asked()]).toEqual([1, 1]);
  });
});
