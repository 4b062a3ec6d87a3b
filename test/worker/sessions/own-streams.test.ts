/**
 * A client with its own stream: the Worker that holds it also reads the streams of its sessions at legacy servers, and the client's object
 * sleeps.
 */
import { evictDurableObject, listDurableObjectIds, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import {
  callLegacy,
  connectAsking,
  giveAnswer,
  openSession,
  toldBy,
  type LegacyCall,
} from '../support/asking-clients.ts';
import { answerTo } from '../support/asking-script.ts';
import { openGet, type OpenStream } from '../support/event-streams.ts';
import { ADMIN, PATIENT, createPortico } from '../support/portico.ts';

const portico = createPortico();
const open: OpenStream[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map(stream => stream.close()));
});

/** A client with its own stream, and a server that sends requests on the stream of a session. */
async function connectHearing() {
  const { name, server } = await connectAsking(portico, 'http-standing');
  const session = await openSession(portico);
  const hear = async () => {
    const stream = await openGet(portico, session, { token: ADMIN });
    open.push(stream);
    return stream;
  };
  return {
    server,
    hear,
    call: (mark: string, plan = {}) => callLegacy(portico, name, { mark, ...plan }, { session }),
    answer: (key: string, message: string) =>
      giveAnswer(portico, session, key, answerTo(message, 'ada')),
  };
}

/** Puts the object of the client with its own stream to sleep. */
async function fallAsleep(): Promise<void> {
  for (const id of await listDurableObjectIds(env.CLIENT_SESSION)) {
    const object = env.CLIENT_SESSION.get(id);
    const hears = await runInDurableObject(
      object,
      (_, state) => state.getWebSockets('hearing').length > 0,
    );
    if (hears) await evictDurableObject(object);
  }
}

async function asked({ questions }: LegacyCall, message: string): Promise<string> {
  return vi.waitFor(() => {
    const found = questions.find(({ params }) => params.message === message);
    if (!found) throw new Error(`not asked ${message}`);
    return found.key;
  }, PATIENT);
}

it('[MCP-5] [EDGE-2] is served by one upstream stream, which stays as long as its own, and no call opens another', async () => {
  const { server, hear, call, answer } = await connectHearing();
  const own = await hear();
  for (let n = 0; n < 6; n += 1) await call(`quiet-${n}`).outcome;
  expect([server.openStreams, server.opened]).toEqual([1, 1]);
  // A tool without server requests so far: it is called at once, and its requests still arrive.
  const asking = call('asking', { rounds: 1 });
  expect(await answer(await asked(asking, 'asking#0'), 'asking#0')).toBe(202);
  const outcome = await asking.outcome;
  expect(outcome && toldBy(outcome).answers).toMatchObject([
    { result: answerTo('asking#0', 'ada') },
  ]);
  expect([server.openStreams, server.opened]).toEqual([1, 1]);
  await own.close();
  await vi.waitFor(() => expect(server.openStreams).toBe(0), PATIENT);
});

it('[MCP-5] [UP-2] gets server requests of a call that began before its object slept', async () => {
  const { server, hear, call, answer } = await connectHearing();
  await hear();
  const waiting = call('waiting', { hang: true });
  await vi.waitFor(() => expect(server.call('waiting')).toBeDefined(), PATIENT);
  await fallAsleep();
  const dropped = call('dropped', { rounds: 1 });
  await asked(dropped, 'dropped#0');
  dropped.drop();
  const key = await asked(waiting, 'dropped#0');
  expect(await answer(key, 'dropped#0')).toBe(202);
  await vi.waitFor(
    () =>
      expect(server.call('dropped')?.answers).toMatchObject([
        { result: answerTo('dropped#0', 'ada') },
      ]),
    PATIENT,
  );
  waiting.drop();
});

it('[MCP-5] [UP-2] still gets server requests when its own stream ends during a call, and when it reconnects', async () => {
  const { server, hear, call, answer } = await connectHearing();
  const own = await hear();
  const asking = call('asking', { rounds: 3 });
  const first = await asked(asking, 'asking#0');
  await own.close();
  await vi.waitFor(() => expect(server.opened).toBe(2), PATIENT);
  expect(await answer(first, 'asking#0')).toBe(202);
  const second = await asked(asking, 'asking#1');
  await hear();
  expect(await answer(second, 'asking#1')).toBe(202);
  expect(await answer(await asked(asking, 'asking#2'), 'asking#2')).toBe(202);
  const outcome = await asking.outcome;
  expect(outcome && toldBy(outcome).answers).toHaveLength(3);
});

it('[MCP-5] [MCP-4] reconnects at once during a call, though its former stream is still open', async () => {
  const { server, hear, call, answer } = await connectHearing();
  await hear();
  const asking = call('asking', { rounds: 2 });
  const first = await asked(asking, 'asking#0');
  const startedAt = Date.now();
  await hear();
  expect(Date.now() - startedAt).toBeLessThan(3_500);
  expect(await answer(first, 'asking#0')).toBe(202);
  expect(await answer(await asked(asking, 'asking#1'), 'asking#1')).toBe(202);
  const outcome = await asking.outcome;
  expect(outcome && toldBy(outcome).answers).toHaveLength(2);
  expect(server.openStreams).toBe(1);
});
