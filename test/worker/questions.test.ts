import { describe, expect, it, vi } from 'vitest';
import { KINDS, answerTo } from './asking-server.ts';
import { answersOf, callLegacy, callModern, connectAsking, giveAnswer, openSession, toldBy } from './asking-clients.ts';
import { createPortico } from './portico.ts';

const portico = createPortico();
const soon = { timeout: 2_000, interval: 10 };

describe.each(KINDS)('%s', kind => {
  it('modern', async () => {
    const { name, server } = await connectAsking(portico, kind);
    const plan = { mark: 'a', rounds: 3, together: 2 };
    let round = await callModern(portico, name, plan);
    let n = 0;
    while (round.state && n < 12) {
      n += 1;
      round = await callModern(portico, name, plan, { state: round.state, responses: answersOf(round.questions, 'me') });
    }
    console.log(kind, n, JSON.stringify(toldBy(round.answer)));
    await portico.settle();
    await new Promise(r => setTimeout(r, 200));
    console.log(JSON.stringify([...server.calls]), server.openStreams);
  });
  it('modern drop', async () => {
    const { name, server } = await connectAsking(portico, kind);
    const client = new AbortController();
    const p = callModern(portico, name, { mark: 'd', hang: true, progress: true }, { signal: client.signal }).catch(String);
    await vi.waitFor(() => expect(server.call('d')).toBeDefined(), soon);
    client.abort();
    console.log(await Promise.race([p, new Promise(r => setTimeout(r, 500, 'still'))]));
    await new Promise(r => setTimeout(r, 1000));
    console.log(kind, JSON.stringify([...server.calls]), server.openStreams);
  });
  it('legacy', async () => {
    const { name, server } = await connectAsking(portico, kind);
    const session = await openSession(portico);
    const call = callLegacy(portico, name, { mark: 'l', rounds: 2, together: 2 }, { session });
    for (let i = 0; i < 4; i += 1) {
      await vi.waitFor(() => expect(call.questions.length).toBeGreaterThan(i), soon);
      const q = call.questions[i]!;
      expect(await giveAnswer(portico, session, q.key, answerTo(q.params.message, 'me'))).toBe(202);
    }
    console.log(kind, JSON.stringify(await call.outcome));
    await portico.settle();
  });
  it('legacy drop', async () => {
    const { name, server } = await connectAsking(portico, kind);
    const session = await openSession(portico);
    const call = callLegacy(portico, name, { mark: 'd', rounds: 1 }, { session });
    await vi.waitFor(() => expect(call.questions.length).toBe(1), soon);
    call.drop();
    await new Promise(r => setTimeout(r, 1000));
    console.log(kind, JSON.stringify([...server.calls]), server.openStreams);
  });
});
