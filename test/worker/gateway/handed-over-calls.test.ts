/**
 * Where a call of a modern client to a legacy server with server requests is made: in the client's object, until the tool sent no server
 * request in five calls; then in the Worker, which hands it over if the server sends one after all. On Cloudflare always in the object.
 */
import { describe, expect, it } from 'vitest';
import { answersOf, callModern, connectAsking, toldBy } from '../support/asking-clients.ts';
import type { Kind, Plan } from '../support/asking-script.ts';
import { createPortico, type Portico } from '../support/portico.ts';
import { watchObjects } from '../support/quiet-tools.ts';

async function connect(portico: Portico, kind: Kind = 'http-legacy') {
  const { name, server } = await connectAsking(portico, kind);
  let calls = 0;
  const call = async (plan: Partial<Plan> = {}, capabilities?: object) => {
    calls += 1;
    const asked = { mark: `${name}-${calls}`, rounds: 0, ...plan };
    const round = await callModern(portico, name, asked, capabilities && { capabilities });
    return { round, plan: asked };
  };
  const callOften = async (times: number, capabilities?: object) => {
    for (let n = 0; n < times; n += 1) {
      const { round } = await call({}, capabilities);
      expect(toldBy(round.answer).answers).toEqual([]);
    }
  };
  return { name, server, call, callOften };
}

describe('[EDGE-2] [MCP-5] a tool without server requests', () => {
  it('is called by the Worker after five calls, with the same capabilities', async () => {
    const { counts: objects } = watchObjects();
    const { callOften } = await connect(createPortico());
    await callOften(9);
    expect(objects()).toEqual({ begun: 5, taken: 0 });
    await callOften(1, { elicitation: {} });
    expect(objects()).toEqual({ begun: 6, taken: 0 });
  });

  it('is called by the object again after a server request', async () => {
    const portico = createPortico();
    const { counts: objects } = watchObjects();
    const { name, server, call, callOften } = await connect(portico);
    await callOften(6);
    const { round, plan } = await call({ rounds: 1, together: 2 });
    expect(round.questions).toHaveLength(2);
    expect(objects()).toEqual({ begun: 5, taken: 1 });
    const more = { state: round.state, responses: answersOf(round.questions, 'ada') };
    const last = await callModern(portico, name, plan, more);
    expect(toldBy(last.answer).answers).toHaveLength(2);
    expect(server.call(plan.mark)).toMatchObject({ arrivals: 1, done: true, cancelled: false });
    await callOften(1);
    expect(objects()).toEqual({ begun: 6, taken: 1 });
  });

  it('is called by the object if it sent progress', async () => {
    const { counts: objects } = watchObjects();
    const { call } = await connect(createPortico());
    for (let n = 0; n < 7; n += 1) await call({ progress: true });
    expect(objects().begun).toBe(7);
  });

  it.each([
    ['on Cloudflare, whose Workers end soon after their response', 'production', 'http-legacy'],
    ['over HTTP+SSE', 'local', 'sse-legacy'],
  ] as const)('is called by the object %s', async (_where, mode, kind) => {
    const { counts: objects } = watchObjects();
    const { callOften } = await connect(createPortico({ PORTICO_MODE: mode }), kind);
    await callOften(8);
    expect(objects()).toEqual({ begun: 8, taken: 0 });
  });
});
