/**
 * Server requests that do not name their call, while several calls of one client run: none is lost with the call that was asked, and each
 * gets one answer.
 */
import { expect, it, vi } from 'vitest';
import {
  callLegacy,
  connectAsking,
  giveAnswer,
  openSession,
  toldBy,
  type LegacyCall,
  type Question,
} from '../support/asking-clients.ts';
import { answerTo } from '../support/asking-script.ts';
import { PATIENT, createPortico } from '../support/portico.ts';

const portico = createPortico();

async function asked({ questions }: LegacyCall, message: string): Promise<Question> {
  return vi.waitFor(() => {
    const found = questions.find(({ params }) => params.message === message);
    if (!found) throw new Error(`not asked ${message}`);
    return found;
  }, PATIENT);
}

it('[MCP-4] [MCP-5] [UP-3] a server request whose call is dropped is sent again on another call of the client', async () => {
  const { name, server } = await connectAsking(portico, 'sse-legacy');
  const session = await openSession(portico);
  const give = (key: string, message: string) =>
    giveAnswer(portico, session, key, answerTo(message, 'ada'));
  const asking = callLegacy(portico, name, { mark: 'asking', rounds: 2 }, { session });
  const { key } = await asked(asking, 'asking#0');
  const other = callLegacy(portico, name, { mark: 'other', hang: true }, { session });
  await vi.waitFor(() => expect(server.call('other')).toBeDefined(), PATIENT);
  expect(await give(key, 'asking#0')).toBe(202);
  const misdirected = await asked(other, 'asking#1');
  other.drop();
  const again = await asked(asking, 'asking#1');
  expect(again.key).not.toBe(misdirected.key);
  expect(await give(misdirected.key, 'too late')).toBe(400);
  expect(await give(again.key, 'asking#1')).toBe(202);
  const outcome = await asking.outcome;
  expect(outcome && toldBy(outcome).answers).toMatchObject([
    { result: answerTo('asking#0', 'ada') },
    { result: answerTo('asking#1', 'ada') },
  ]);
  await vi.waitFor(() => expect(server.call('other')?.cancelled).toBe(true), PATIENT);
  expect(server.stray).toEqual([]);
});

it.each(['http-legacy', 'sse-legacy'] as const)(
  '[MCP-5] [UP-3] a server request of %s whose last call is dropped ends with an error there',
  async kind => {
    const { name, server } = await connectAsking(portico, kind);
    const session = await openSession(portico);
    const call = callLegacy(portico, name, { mark: 'last', rounds: 1 }, { session });
    const { key } = await asked(call, 'last#0');
    call.drop();
    await vi.waitFor(() => {
      expect(server.call('last')).toMatchObject({
        cancelled: true,
        done: false,
        answers: [{ error: { code: -32603 } }],
      });
    }, PATIENT);
    expect(await giveAnswer(portico, session, key, answerTo('last#0', 'ada'))).toBe(400);
    expect(server.call('last')?.answers).toHaveLength(1);
    expect(server.stray).toEqual([]);
  },
);
