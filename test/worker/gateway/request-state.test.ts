/**
 * The `requestState` of a call that waits for its modern client: valid for that client, that request and a limited time, and for nothing
 * else. A refused retry reaches no upstream and does not harm the call.
 */
import { describe, expect, it } from 'vitest';
import {
  answersOf,
  callModern,
  connectAsking,
  reasonOf,
  sharedAsking,
  toldBy,
  type ModernCall,
} from '../support/asking-clients.ts';
import { KINDS, type Plan } from '../support/asking-script.ts';
import { createPortico, createToken, type Portico } from '../support/portico.ts';

const portico = createPortico();

let marks = 0;

/** A call that waits for the answer to its only server request. */
async function suspend(kind: (typeof KINDS)[number], at: Portico = portico) {
  const { name, server } = await sharedAsking(portico, kind);
  server.states.length = 0;
  marks += 1;
  const plan: Plan = { mark: `m${marks}`, rounds: 1 };
  const { state = '', questions } = await callModern(at, name, plan);
  expect(questions.map(({ params }) => params.message)).toEqual([`${plan.mark}#0`]);
  const responses = answersOf(questions, 'owner');
  const seen = () => JSON.stringify([[...server.calls.values()], server.states, server.stray]);
  const retry = (more: ModernCall = {}, given = plan) =>
    callModern(portico, name, given, { state, responses, ...more });
  return { name, server, plan, state, responses, seen, retry };
}

/** A text that differs from the given one in the middle. */
const tampered = (text: string) => {
  const at = Math.floor(text.length / 2);
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
};

describe.each(KINDS)('the state of a call to %s', kind => {
  it.each<[string, (state: string) => unknown]>([
    ['is tampered with', tampered],
    ['is cut short', state => state.slice(0, -4)],
    ['is garbage', () => 'garbage'],
    ['is empty', () => ''],
    ['is a number', () => 7],
    ['is null', () => null],
    ['is an object', state => ({ state })],
    ['is another kind of sealed text', state => state.replace(/^[^.]*/, 'k9')],
  ])('[MCP-4] [MCP-5] is refused if it %s', async (_what, change) => {
    const { state, seen, retry } = await suspend(kind);
    const before = seen();
    const { answer } = await retry({ state: change(state) });
    expect(answer.error?.code).toBe(-32602);
    expect(seen()).toBe(before);
    expect(toldBy((await retry()).answer).answers).toHaveLength(1);
  });

  it('[MCP-4] [MCP-10] is refused from another principal', async () => {
    const { server, seen, retry } = await suspend(kind);
    const before = seen();
    const { token } = await createToken(portico);
    expect((await retry({ token })).answer.error?.code).toBe(-32602);
    expect(seen()).toBe(before);
    expect(toldBy((await retry()).answer).answers).toHaveLength(1);
    expect(server.stray).toEqual([]);
  });

  it('[MCP-4] [MCP-5] is refused for another request', async () => {
    const { name, plan, seen, retry } = await suspend(kind);
    const before = seen();
    for (const { answer } of [
      await retry({}, { ...plan, mark: 'another' }),
      await retry({}, { ...plan, rounds: 2 }),
      await retry({ tool: `${name}.other` }),
    ]) {
      expect(answer.error?.code).toBe(-32602);
    }
    expect(seen()).toBe(before);
    expect(toldBy((await retry()).answer).answers).toHaveLength(1);
  });

  it('[MCP-3] [MCP-4] is refused at another server with the same tool and arguments', async () => {
    const { name } = await connectAsking(portico, kind);
    const other = await connectAsking(portico, kind);
    const plan: Plan = { mark: `own-${kind}`, rounds: 1 };
    const own = { path: `/mcp/servers/${name}`, tool: 'ask' };
    const { state, questions } = await callModern(portico, name, plan, own);
    const retry = { state, responses: answersOf(questions, 'owner'), tool: 'ask' };
    const path = `/mcp/servers/${other.name}`;
    const { answer } = await callModern(portico, name, plan, { ...retry, path });
    expect(answer.error?.code).toBe(-32602);
    expect([...other.server.calls]).toEqual([]);
  });

  it('[MCP-4] [SEC-4] is refused when it has expired', async () => {
    const { seen, retry } = await suspend(
      kind,
      createPortico({ PORTICO_QUESTION_TIMEOUT_MS: '1' }),
    );
    await new Promise(resolve => setTimeout(resolve, 10));
    const before = seen();
    expect((await retry()).answer.error?.code).toBe(-32602);
    expect(seen()).toBe(before);
  });

  it('[MCP-4] does not contain the state of the server', async () => {
    const { name, plan, state, server } = await suspend(kind);
    const { answer } = await callModern(portico, name, plan, { state: `${plan.mark}@1` });
    expect(answer.error?.code).toBe(-32602);
    expect(state).not.toContain(plan.mark);
    expect(server.states.every(seen => seen === undefined)).toBe(true);
  });
});

describe.each(['http-legacy', 'sse-legacy'] as const)('a state of a call to %s', kind => {
  it('[MCP-5] [UP-2] that is used again after the end finds the call gone', async () => {
    const { server, plan, retry } = await suspend(kind);
    expect(toldBy((await retry()).answer).mark).toBe(plan.mark);
    const { answer } = await retry();
    expect([answer.result?.isError, reasonOf(answer)]).toEqual([true, 'call_gone']);
    expect(server.call(plan.mark)?.arrivals).toBe(1);
    expect(server.stray).toEqual([]);
  });

  it('[MCP-5] [UP-2] that several retries use at once resumes the call for one of them', async () => {
    const { server, plan, retry } = await suspend(kind);
    const rounds = await Promise.all(Array.from({ length: 5 }, () => retry()));
    const reasons = rounds.map(({ answer }) => reasonOf(answer));
    expect(reasons.filter(reason => reason === 'call_gone')).toHaveLength(4);
    const done = rounds.find(({ answer }) => reasonOf(answer) === undefined);
    expect(toldBy(done?.answer ?? { id: 1 }).mark).toBe(plan.mark);
    expect(server.call(plan.mark)).toMatchObject({ arrivals: 1, answers: { length: 1 } });
    expect(server.stray).toEqual([]);
  });

  it('[MCP-5] [UP-2] of a client that lost the capability starts no second call', async () => {
    const { server, plan, retry } = await suspend(kind);
    const { answer } = await retry({ capabilities: {} });
    expect(reasonOf(answer)).toBe('call_gone');
    expect(server.call(plan.mark)?.arrivals).toBe(1);
    expect(toldBy((await retry()).answer).answers).toHaveLength(1);
  });

  it.each([[[]], ['text'], [7], [null]])(
    '[MCP-4] with %j for answers is refused, and the call still waits',
    async responses => {
      const { seen, retry } = await suspend(kind);
      const before = seen();
      const { answer } = await retry({ responses: responses as unknown as object });
      expect(answer.error?.code).toBe(-32602);
      expect(seen()).toBe(before);
      expect(toldBy((await retry()).answer).answers).toHaveLength(1);
    },
  );
});
