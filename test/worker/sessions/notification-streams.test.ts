/** The cost of notification streams of sessions at legacy servers: for which calls one is opened, and how often a server is asked. */
import { countAsked } from '../support/asked-objects.ts';
import { evictAllDurableObjects } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import {
  callLegacy,
  callModern,
  connectAsking,
  giveAnswer,
  openSession,
  toldBy,
} from '../support/asking-clients.ts';
import { answerTo } from '../support/asking-script.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import { holdTimers } from '../support/held-timers.ts';
import {
  PATIENT,
  createPortico,
  inSession,
  legacy,
  registerConnected,
  type Portico,
} from '../support/portico.ts';

const portico = createPortico();

async function callEcho(at: Portico, name: string, session: string) {
  const call = legacy('tools/call', { name: `${name}.echo`, arguments: { a: 1 } });
  const response = await at.post(call, { headers: inSession(session) });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('a')]);
}

it('[MCP-12] [UP-2] a server without one is asked once per session, whichever calls come', async () => {
  const seen = serve({ streamless: new FakeServer() });
  await registerConnected(portico, 'streamless');
  const gets = () => seen.filter(text => text.startsWith('GET ')).length;
  const before = gets();
  const session = await openSession(portico);
  for (let i = 0; i < 3; i += 1) await callEcho(portico, 'streamless', session);
  await evictAllDurableObjects();
  await callEcho(createPortico(), 'streamless', session);
  expect(gets()).toBe(before + 1);
  const silent = await openSession(portico, { capabilities: {} });
  await callEcho(portico, 'streamless', silent);
  expect(gets()).toBe(before + 1);
});

it('[MCP-12] [EDGE-1] a tool without server requests there calls no object and opens no stream', async () => {
  const { name, server } = await connectAsking(portico, 'http-standing');
  const session = await openSession(portico);
  const call = (mark: string, rounds = 0) =>
    callLegacy(portico, name, { mark, rounds }, { session });
  for (let n = 0; n < 5; n += 1) await call(`cold-${n}`).outcome;
  await vi.waitFor(() => expect(server.openStreams).toBe(0), PATIENT);
  // Calls that last this long ask their object for messages, or open a channel.
  const elapse = holdTimers(250, 2_000);
  const asked = countAsked(env.CLIENT_SESSION);
  const outcome = await call('warm').outcome;
  expect(outcome && toldBy(outcome).mark).toBe('warm');
  elapse();
  expect([asked(), server.openStreams]).toEqual([0, 0]);
});

it('[MCP-5] a server that sent requests there has its stream opened before each of its calls', async () => {
  const { name } = await connectAsking(portico, 'http-standing');
  const session = await openSession(portico);
  const call = (mark: string, rounds = 0) =>
    callLegacy(portico, name, { mark, rounds }, { session });
  const answered = async (mark: string) => {
    const asking = call(mark, 1);
    await vi.waitFor(() => expect(asking.questions).toHaveLength(1), PATIENT);
    const key = asking.questions[0]?.key ?? '';
    await giveAnswer(portico, session, key, answerTo(`${mark}#0`, 'ada'));
    const outcome = await asking.outcome;
    expect(outcome && toldBy(outcome).answers).toHaveLength(1);
  };
  await answered('first');
  for (let n = 0; n < 6; n += 1) await call(`quiet-${n}`).outcome;
  await answered('last');
});

it('[MCP-4] [MCP-5] [UP-2] concurrent calls of callers without a session have one each, and return it', async () => {
  const { name, server } = await connectAsking(portico, 'http-standing');
  const plans = ['a', 'b', 'c'].map(mark => ({ mark, rounds: 1 }));
  const rounds = await Promise.all(plans.map(plan => callModern(portico, name, plan)));
  expect(rounds.map(({ questions }) => questions.map(({ params }) => params.message))).toEqual(
    plans.map(({ mark }) => [`${mark}#0`]),
  );
  const sessions = server.sessions;
  const done = await Promise.all(
    rounds.map(({ state, questions }, i) => {
      const responses = Object.fromEntries(questions.map(({ key }) => [key, { who: i }]));
      return callModern(portico, name, plans[i] ?? { mark: '' }, { state, responses });
    }),
  );
  expect(done.map(({ answer }) => toldBy(answer).answers)).toMatchObject(
    plans.map((_, i) => [{ result: { who: i } }]),
  );
  const again = ['d', 'e', 'f'].map(mark => callModern(portico, name, { mark, rounds: 1 }));
  await Promise.all(again);
  await vi.waitFor(() => expect(server.sessions).toBe(sessions), PATIENT);
});
