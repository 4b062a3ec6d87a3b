/** `notifications/cancelled` of a legacy client ends its own call, also at the upstream, and no other. */
import { countAsked } from '../support/asked-objects.ts';
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SealedIds } from '../../../src/access/admission/sealed-id.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { FakeServer, resultOf, serve, type SeenPost } from '../support/fake-server.ts';
import { holdRequestTimersThat, holdTimers } from '../support/held-timers.ts';
import {
  PATIENT,
  createPortico,
  initialize,
  inSession,
  legacy,
  registerConnected,
  type Portico,
} from '../support/portico.ts';

const portico = createPortico();
/** Another isolate: the notification need not reach the one that makes the call. */
const elsewhere = createPortico();
let name: string;
let server: FakeServer;
let count = 0;

/** Makes calls last until they are released. */
function holdCalls() {
  const held: { post: SeenPost; release: () => void }[] = [];
  server.call = post =>
    new Promise(resolve =>
      held.push({
        post,
        release: () => resolve(resultOf(post, { content: [{ type: 'text', text: 'late' }] })),
      }),
    );
  return held;
}

const call = (session: string, id: unknown, from: Portico = portico) =>
  from.post(legacy('tools/call', { name: `${name}.echo`, arguments: {} }, id), {
    headers: inSession(session),
  });
const cancel = async (session: string, requestId: unknown, from = elsewhere) => {
  const message = {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId, reason: 'enough' },
  };
  expect((await from.post(message, { headers: inSession(session) })).status).toBe(202);
};
/** The interval in which a call polls its own isolate for its cancellation; after it, a call opens a channel. */
const LOOK_MS = 250;
const holdLooks = () => holdRequestTimersThat(ms => ms === LOOK_MS);
/** After this silence an answer begins as a stream, whatever follows. */
const SILENCE_MS = 1_000;
const ownerOf = async (session: string) =>
  `session:${(await new SealedIds(createKeyRing(env.PORTICO_KEYS)).open(session))?.id}`;
/** Waits until this many calls of a session have a channel. */
const lined = async (session: string, lines: number) => {
  const object = env.CLIENT_SESSION.getByName(await ownerOf(session));
  const open = () => runInDurableObject(object, (_, state) => state.getWebSockets().length);
  await vi.waitFor(async () => expect(await open()).toBe(lines), PATIENT);
};

beforeEach(async () => {
  count += 1;
  name = `held${count}`;
  server = new FakeServer();
  serve({ [name]: server });
  await registerConnected(portico, name);
});

describe('a cancelled call', () => {
  it.each<[string, unknown, boolean]>([
    ['before its line is there', 'a', false],
    ['in its middle', 'long id '.repeat(100), true],
  ])(
    '[MCP-4] [UP-3] %s ends, also at the server, and gets no answer',
    async (_when, id, hasLine) => {
      holdTimers(SILENCE_MS);
      const looks = holdLooks();
      const held = holdCalls();
      const session = await initialize(portico);
      const answer = call(session, id);
      await vi.waitFor(() => expect(held).toHaveLength(1), PATIENT);
      if (hasLine) looks.elapse();
      if (hasLine) await lined(session, 1);
      await cancel(session, id);
      looks.elapse();
      await expectEnded(await answer);
    },
  );

  it('[MCP-4] [MCP-12] [REG-4] of the same isolate asks no object: neither for a channel, nor for a check of its server', async () => {
    holdTimers(SILENCE_MS);
    const looks = holdLooks();
    const held = holdCalls();
    const session = await initialize(portico);
    const answer = call(session, 7);
    await vi.waitFor(() => expect(held).toHaveLength(1), PATIENT);
    const asked = countAsked(env.CLIENT_SESSION);
    const looked = countAsked(env.SERVER_MONITOR);
    await cancel(session, 7, portico);
    looks.elapse();
    await expectEnded(await answer);
    expect([asked(), looked()]).toEqual([0, 0]);
  });

  async function expectEnded(response: Response): Promise<void> {
    expect([response.status, await response.text()]).toEqual([202, '']);
    await portico.settle();
    expect(server.of('tools/call')).toHaveLength(1);
    expect(server.of('tools/call')[0]?.signal.aborted).toBe(true);
    expect(server.of('notifications/cancelled')[0]?.params).toMatchObject({
      requestId: server.of('tools/call')[0]?.id,
    });
  }

  it('[MCP-4] [UP-3] is found after the object lost its memory', async () => {
    holdTimers(SILENCE_MS);
    const looks = holdLooks();
    const held = holdCalls();
    const session = await initialize(portico);
    const answer = call(session, 1);
    await vi.waitFor(() => expect(held).toHaveLength(1), PATIENT);
    looks.elapse();
    await lined(session, 1);
    await evictDurableObject(env.CLIENT_SESSION.getByName(await ownerOf(session)));
    await cancel(session, 1);
    expect((await answer).status).toBe(202);
  });

  it('[MCP-4] [UP-3] that streams sends nothing more', async () => {
    server.call = post => {
      const { progressToken } = post.params['_meta'] as { progressToken: unknown };
      const progress = {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: 1 },
      };
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(progress)}\n\n`));
          post.signal.addEventListener('abort', () => controller.error(new Error('aborted')));
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const looks = holdLooks();
    const session = await initialize(portico);
    const params = { name: `${name}.echo`, arguments: {}, _meta: { progressToken: 'p' } };
    const response = await portico.post(legacy('tools/call', params, 1), {
      headers: inSession(session),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = response.text();
    looks.elapse();
    await lined(session, 1);
    await cancel(session, 1);
    expect(await text).toContain('notifications/progress');
    expect(await text).not.toContain('"id":1');
    await portico.settle();
    expect(server.of('notifications/cancelled')).toHaveLength(1);
  });
});

describe('every other call', () => {
  it('[MCP-4] continues: of another id, another type of id, another session', async () => {
    holdTimers(SILENCE_MS);
    const looks = holdLooks();
    const held = holdCalls();
    const [mine, other] = [await initialize(portico), await initialize(portico)];
    const answers = [call(mine, 1), call(mine, '1'), call(mine, 2), call(other, 1)];
    await vi.waitFor(() => expect(held).toHaveLength(4), PATIENT);
    looks.elapse();
    await lined(mine, 3);
    await cancel(mine, 1);
    expect((await answers[0])?.status).toBe(202);
    for (const { release } of held) release();
    const rest = await Promise.all(answers.slice(1).map(async answer => (await answer).text()));
    for (const text of rest) expect(text).toContain('late');
  });

  it('[MCP-4] continues if a cancellation came too late, names no call, or is malformed', async () => {
    const session = await initialize(portico);
    for (const requestId of [99, 'x', null, {}, undefined]) await cancel(session, requestId);
    expect((await call(session, 5)).status).toBe(200);
    await cancel(session, 5);
    expect(await (await call(session, 6)).text()).toContain('"id":6');
  });

  it('[MCP-12] that is short opens no channel', async () => {
    const session = await initialize(portico);
    await call(session, 1);
    const looks = holdLooks();
    const asked = countAsked(env.CLIENT_SESSION);
    await call(session, 2);
    looks.elapse();
    expect(asked()).toBe(0);
  });
});
