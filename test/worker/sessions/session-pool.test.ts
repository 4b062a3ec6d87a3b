/**
 * Sessions that the Worker opens and reads itself, for calls of modern clients with capabilities to tools without server requests, at
 * legacy servers with a stream per session: one call at a time, until the session was idle or its server, stream or call failed.
 */
import { describe, expect, it, vi } from 'vitest';
import {
  answersOf,
  callModern,
  connectAsking,
  reasonOf,
  toldBy,
  type Round,
} from '../support/asking-clients.ts';
import type { Plan } from '../support/asking-script.ts';
import { PATIENT, createPortico } from '../support/portico.ts';
import { holdPlatformTimersThat } from '../support/held-timers.ts';
import { callUntilHere, watchObjects } from '../support/quiet-tools.ts';

/** How long an unused session is kept, in milliseconds. */
const IDLE_MS = 10_000;

/** A server with a tool that the Worker already calls itself. */
async function connectQuiet() {
  const portico = createPortico();
  const { name, server } = await connectAsking(portico, 'http-standing');
  await callUntilHere(portico, name);
  // The object's own sessions at the server have ended.
  await vi.waitFor(() => expect(server.openStreams).toBe(1), PATIENT);
  // The earlier ones belong to the monitor.
  const ended = server.ended.splice(0);
  expect(ended).not.toContain(`s${server.sessions}`);
  const { counts: objects } = watchObjects();
  const counted = objects();
  const call = (plan: Plan, more: Parameters<typeof callModern>[3] = {}) =>
    callModern(portico, name, { rounds: 0, ...plan }, more);
  const answer = (plan: Plan, { state, questions }: Round) =>
    call(plan, { state, responses: answersOf(questions, 'ada') });
  const since = () => {
    const { begun, taken } = objects();
    return { begun: begun - counted.begun, taken: taken - counted.taken };
  };
  return { portico, name, server, call, answer, objects: since };
}

describe('[MCP-5] [EDGE-2] a session read by the Worker', () => {
  it('serves call after call, without asking an object', async () => {
    const { call, server, objects } = await connectQuiet();
    const { sessions, opened } = server;
    for (let n = 0; n < 20; n += 1) {
      expect(toldBy((await call({ mark: `again-${n}` })).answer).answers).toEqual([]);
    }
    expect([objects(), server.sessions, server.opened]).toEqual([
      { begun: 0, taken: 0 },
      sessions,
      opened,
    ]);
  });

  it('[MCP-4] delivers server requests on its stream to its call, which the object takes over', async () => {
    const { call, answer, server, objects } = await connectQuiet();
    const plan = { mark: 'asking', rounds: 2, together: 2 };
    const first = await call(plan);
    expect(first.questions.map(({ params }) => params.message)).toEqual(['asking#0', 'asking#1']);
    const second = await answer(plan, first);
    expect(second.questions.map(({ params }) => params.message)).toEqual(['asking#2', 'asking#3']);
    expect(toldBy((await answer(plan, second)).answer).answers).toHaveLength(4);
    expect(objects()).toEqual({ begun: 0, taken: 1 });
    expect(server.call('asking')).toMatchObject({ arrivals: 1, done: true, cancelled: false });
    expect(server.stray).toEqual([]);
  });

  it('[ACC-5] belongs to one call: server requests of concurrent calls reach those', async () => {
    const { call, answer, server } = await connectQuiet();
    const plans = ['a', 'b', 'c', 'd', 'e', 'f'].map(mark => ({ mark, rounds: 1 }));
    const rounds = await Promise.all(plans.map(plan => call(plan)));
    expect(rounds.map(({ questions }) => questions.map(({ params }) => params.message))).toEqual(
      plans.map(({ mark }) => [`${mark}#0`]),
    );
    const last = await Promise.all(
      rounds.map((round, n) => answer(plans[n] ?? { mark: '' }, round)),
    );
    expect(last.map(({ answer: given }) => toldBy(given).mark)).toEqual(
      plans.map(({ mark }) => mark),
    );
    expect(server.stray).toEqual([]);
  });

  it('[UP-2] that its server forgot is not used again, and the call is made once', async () => {
    const { call, server } = await connectQuiet();
    server.forgetSessions();
    for (const mark of ['first', 'second', 'third']) {
      expect(toldBy((await call({ mark })).answer).mark).toBe(mark);
      expect(server.call(mark)?.arrivals).toBe(1);
    }
  });

  it('[UP-3] stays as long as its call, though the server forgot another', async () => {
    const { portico, name, call, answer, server } = await connectQuiet();
    const plan = { mark: 'long', rounds: 1 };
    const mine = `s${server.sessions}`;
    const long = await call(plan);
    await callUntilHere(portico, name);
    server.forgetSessions(mine);
    expect(toldBy((await call({ mark: 'other' })).answer).mark).toBe('other');
    expect(server.ended).not.toContain(mine);
    expect(toldBy((await answer(plan, long)).answer).answers).toHaveLength(1);
    expect(server.call('long')).toMatchObject({ arrivals: 1, done: true, cancelled: false });
  });

  it('[MCP-6] whose call is cancelled is ended, and serves no other call', async () => {
    const { call, server, objects } = await connectQuiet();
    const pooled = `s${server.sessions}`;
    const client = new AbortController();
    const calling = call({ mark: 'hanging', hang: true }, { signal: client.signal });
    await vi.waitFor(() => expect(server.call('hanging')).toBeDefined(), PATIENT);
    client.abort();
    await calling.catch(() => undefined);
    await vi.waitFor(() => expect(server.call('hanging')?.cancelled).toBe(true), PATIENT);
    await vi.waitFor(() => expect(server.ended).toEqual([pooled]), PATIENT);
    expect(objects().begun).toBe(0);
    await call({ mark: 'next' });
    expect(objects().begun).toBe(1);
  });

  it('is ended when no call used it for a while', async () => {
    const timers = holdPlatformTimersThat(ms => ms > IDLE_MS / 2 && ms <= IDLE_MS);
    const { server } = await connectQuiet();
    expect(server.ended).toEqual([]);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + IDLE_MS);
    timers.elapse();
    await vi.waitFor(() => expect(server.ended).toEqual([`s${server.sessions}`]), PATIENT);
    await vi.waitFor(() => expect(server.openStreams).toBe(0), PATIENT);
  });

  it('is not opened for rare calls', async () => {
    const portico = createPortico();
    const { name, server } = await connectAsking(portico, 'http-standing');
    const { counts: objects } = watchObjects();
    let now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    for (let n = 0; n < 12; n += 1) {
      now += 3_000;
      const { answer } = await callModern(portico, name, { mark: `rare-${n}`, rounds: 0 });
      expect(reasonOf(answer)).toBeUndefined();
    }
    expect(objects().begun).toBe(12);
    expect(server.sessions).toBeLessThanOrEqual(3);
  });
});
