/**
 * Server requests during a call of a legacy client: whose answers count, which clients are asked at all, and what a server gets if the
 * client lacks the capability or disconnects.
 */
import { describe, expect, it, vi } from 'vitest';
import {
  callLegacy,
  callModern,
  connectAsking,
  giveAnswer,
  openSession,
  reasonOf,
  toldBy,
  type LegacyCall,
} from '../support/asking-clients.ts';
import { answerTo, KINDS, type Kind, type Plan } from '../support/asking-script.ts';
import {
  PATIENT,
  createPortico,
  createToken,
  inSession,
  legacy,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();
const LEGACY_KINDS = ['http-legacy', 'http-standing', 'sse-legacy'] as const;

/** Waits until the call has this many server requests. */
async function asked({ questions }: LegacyCall, count = 1) {
  await vi.waitFor(() => expect(questions.length).toBeGreaterThanOrEqual(count), PATIENT);
  return questions;
}

async function outcomeOf(call: LegacyCall): Promise<RpcAnswer> {
  const outcome = await call.outcome;
  if (!outcome) throw new Error('the stream ended without a response');
  return outcome;
}

/** The result of a call whose server request was refused: a legacy server continues, a modern one cannot. */
const refusalOf = (kind: Kind): object =>
  kind === 'http-modern'
    ? { isError: true, _meta: { 'portico/reason': 'upstream_needs_input' } }
    : { content: [{ text: expect.stringContaining('"code":-32601') as unknown }] };

describe.each(KINDS)('a legacy client that is asked by %s', kind => {
  it('[MCP-4] [MCP-5] answers several server requests in any order', async () => {
    const { name, server } = await connectAsking(portico, kind);
    const session = await openSession(portico);
    const plan: Plan = { mark: 'order', rounds: 2, together: 3 };
    const call = callLegacy(portico, name, plan, { session });
    for (const round of [0, 1]) {
      const questions = (await asked(call, 3 * (round + 1))).slice(3 * round);
      for (const { key, params } of questions.toReversed()) {
        expect(await giveAnswer(portico, session, key, answerTo(params.message, 'ada'))).toBe(202);
      }
    }
    const { answers } = toldBy(await outcomeOf(call));
    const echoes = answers.map(given => (given as { result: ReturnType<typeof answerTo> }).result);
    expect(echoes.map(({ content }) => content.echo)).toEqual(
      Array.from({ length: 6 }, (_, n) => `order#${n}`),
    );
    expect(server.call('order')?.arrivals).toBe(kind === 'http-modern' ? 3 : 1);
  });

  it('[MCP-4] [MCP-10] is the only one whose answers count', async () => {
    const { name, server } = await connectAsking(portico, kind);
    const session = await openSession(portico);
    const other = await openSession(portico);
    const { token } = await createToken(portico);
    const stranger = await openSession(portico, { token });
    const call = callLegacy(portico, name, { mark: 'mine', rounds: 1 }, { session });
    const [question] = await asked(call);
    const key = question?.key ?? '';
    const wrong = answerTo('mine#0', 'mallory');
    expect(await giveAnswer(portico, other, key, wrong)).toBe(400);
    expect(await giveAnswer(portico, stranger, key, wrong, token)).toBe(400);
    expect(await giveAnswer(portico, session, key, wrong, token)).toBe(404);
    for (const id of ['1', 'ask-1', 'portico-', `${key}x`, '']) {
      expect(await giveAnswer(portico, session, id, wrong)).toBe(400);
    }
    expect(await giveAnswer(portico, session, key.replace(/\d+$/, '99'), wrong)).toBe(202);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect([call.isOver(), server.call('mine')?.answers]).toEqual([false, []]);
    await giveAnswer(portico, session, key, answerTo('mine#0', 'ada'));
    expect(toldBy(await outcomeOf(call)).answers).toMatchObject([
      { result: answerTo('mine#0', 'ada') },
    ]);
    await giveAnswer(portico, session, key, wrong);
    expect([server.call('mine')?.answers.length, server.stray]).toEqual([1, []]);
  });

  it('[MCP-1] [MCP-5] of 2025-03-26 may answer in a batch', async () => {
    const { name } = await connectAsking(portico, kind);
    const session = await openSession(portico, { version: '2025-03-26' });
    const call = callLegacy(portico, name, { mark: 'batch', rounds: 1 }, { session });
    const [question] = await asked(call);
    const answer = { jsonrpc: '2.0', id: question?.key, result: answerTo('batch#0', 'ada') };
    const stray = { jsonrpc: '2.0', id: 'stray', result: {} };
    const headers = { 'mcp-session-id': session };
    const response = await portico.post([stray, answer], { headers });
    expect(response.status).toBe(202);
    const { answers } = toldBy(await outcomeOf(call));
    expect(answers).toMatchObject([{ result: answerTo('batch#0', 'ada') }]);
  });

  it('[MCP-5] is not sent a server request that it cannot answer', async () => {
    const { name, server } = await connectAsking(portico, kind);
    const capabilities = { elicitation: {} };
    const session = await openSession(portico, { capabilities });
    const plan: Plan = { mark: 'unable', rounds: 1, method: 'sampling/createMessage' };
    const call = callLegacy(portico, name, plan, { session });
    const answer = await outcomeOf(call);
    expect(call.questions).toEqual([]);
    expect(answer.result).toMatchObject(refusalOf(kind));
    expect(server.call('unable')?.arrivals).toBe(1);
  });

  it.each(['tools/call', 'initialize', 'nonsense', ''])(
    '[MCP-5] [SEC-8] is never sent an unknown server request: %j',
    async method => {
      const { name } = await connectAsking(portico, kind);
      const session = await openSession(portico);
      const call = callLegacy(portico, name, { mark: 'evil', rounds: 1, method }, { session });
      const answer = await outcomeOf(call);
      expect(call.questions).toEqual([]);
      expect(answer.result).toMatchObject(refusalOf(kind));
    },
  );
});

describe.each(LEGACY_KINDS)('a client of %s', kind => {
  it.each([
    ['before the first message', { hang: true }, 0],
    ['in the middle of the answer', { hang: true, progress: true }, 0],
    ['while it is asked', { rounds: 1 }, 1],
  ] as const)(
    '[MCP-4] [UP-3] that disconnects %s has its call cancelled',
    async (_when, plan, questions) => {
      const { name, server } = await connectAsking(portico, kind);
      const session = await openSession(portico);
      const call = callLegacy(portico, name, { mark: 'gone', ...plan }, { session });
      await vi.waitFor(() => expect(server.call('gone')).toBeDefined(), PATIENT);
      await asked(call, questions);
      call.drop();
      const cut = kind !== 'sse-legacy';
      await vi.waitFor(
        () => expect(server.call('gone')).toMatchObject({ cancelled: true, cut }),
        PATIENT,
      );
      expect(server.call('gone')).toMatchObject({ arrivals: 1, done: false, cut });
      await call.outcome;
    },
  );
});

it.each(['http-legacy', 'sse-legacy'] as const)(
  '[MCP-5] a modern client of %s without the capability is told what is missing',
  async kind => {
    const { name, server } = await connectAsking(portico, kind);
    for (const capabilities of [{}, { sampling: {} }]) {
      const mark = `silent-${Object.keys(capabilities).join()}`;
      const { answer } = await callModern(portico, name, { mark, rounds: 1 }, { capabilities });
      expect(answer.error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: {} } },
      });
      await vi.waitFor(() => expect(server.call(mark)?.cancelled).toBe(true), PATIENT);
      expect(server.call(mark)).toMatchObject({ arrivals: 1, done: false });
      expect(server.call(mark)?.answers.filter(({ result }) => result)).toEqual([]);
    }
  },
);

describe('a modern server with a server request', () => {
  const plan: Plan = { mark: 'asks', rounds: 1 };

  it.each<[string, () => Promise<RpcAnswer>]>([
    [
      'without capabilities',
      async () => {
        const { name } = await connectAsking(portico, 'http-modern');
        const session = await openSession(portico, { capabilities: {} });
        return outcomeOf(callLegacy(portico, name, plan, { session }));
      },
    ],
    [
      'without a session',
      async () => {
        const { name } = await connectAsking(portico, 'http-modern');
        return outcomeOf(callLegacy(portico, name, plan));
      },
    ],
    [
      'that takes no stream',
      async () => {
        const { name } = await connectAsking(portico, 'http-modern');
        const session = await openSession(portico);
        return outcomeOf(callLegacy(portico, name, plan, { session, accept: 'application/json' }));
      },
    ],
    [
      'that calls in a batch',
      async () => {
        const { name } = await connectAsking(portico, 'http-modern');
        const headers = {
          ...inSession(await openSession(portico, { version: '2025-03-26' })),
          'mcp-protocol-version': '2025-03-26',
        };
        const call = legacy('tools/call', { name: `${name}.ask`, arguments: plan });
        const answers = await (await portico.post([call], { headers })).json<RpcAnswer[]>();
        return answers[0] ?? { id: null };
      },
    ],
  ])('[MCP-5] is a clear failure to a legacy client %s', async (_who, call) => {
    const answer = await call();
    expect([answer.result?.isError, reasonOf(answer)]).toEqual([true, 'upstream_needs_input']);
    expect(answer.result).not.toHaveProperty('inputRequests');
  });
});

it.each(LEGACY_KINDS)('[MCP-5] a batch is answered though %s asks', async kind => {
  const { name } = await connectAsking(portico, kind);
  const headers = {
    ...inSession(await openSession(portico, { version: '2025-03-26' })),
    'mcp-protocol-version': '2025-03-26',
  };
  const call = legacy('tools/call', { name: `${name}.ask`, arguments: { mark: 'b', rounds: 1 } });
  const answers = await (await portico.post([call], { headers })).json<RpcAnswer[]>();
  expect(reasonOf(answers[0] ?? { id: null })).toBe('upstream_needs_input');
});
