/** A legacy client at a modern server that asks for input: each further round needs the rights of that time. */
import { expect, it, vi } from 'vitest';
import {
  callLegacy,
  connectAsking,
  giveAnswer,
  openSession,
  toldBy,
  type Connected,
} from '../support/asking-clients.ts';
import { answerTo } from '../support/asking-script.ts';
import { person } from '../support/cached-servers.ts';
import { createPortico, PATIENT, SERVERS } from '../support/portico.ts';

const portico = createPortico();

/** Makes a call that asks once, does something before the answer, and returns the outcome and how often the call was made. */
async function callAround(act: (connected: Connected) => Promise<unknown>) {
  const connected = await connectAsking(portico, 'http-modern');
  const token = await person(portico);
  const session = await openSession(portico, { token });
  const mark = 'rights';
  const call = callLegacy(portico, connected.name, { mark, rounds: 1 }, { session, token });
  await vi.waitFor(() => expect(call.questions).toHaveLength(1), PATIENT);
  await act(connected);
  const key = call.questions[0]?.key ?? '';
  expect(await giveAnswer(portico, session, key, answerTo(`${mark}#0`, 'ada'), token)).toBe(202);
  return { outcome: await call.outcome, arrivals: connected.server.call(mark)?.arrivals };
}

it('[ACC-3] [MCP-5] a call goes on once its question is answered', async () => {
  const { outcome, arrivals } = await callAround(async () => {});
  expect(arrivals).toBe(2);
  expect(toldBy(outcome ?? { id: null }).answers).toHaveLength(1);
});

it('[ACC-3] [MCP-5] is not made again after its caller lost the right to the tool', async () => {
  const { outcome, arrivals } = await callAround(async ({ id }) => {
    const rule = { effect: 'deny', subject: { kind: 'everyone' }, server: id, tool: 'ask' };
    expect((await portico.api('POST', '/api/v1/access/rules', rule)).status).toBe(201);
  });
  expect(arrivals).toBe(1);
  expect(JSON.stringify(outcome)).toContain('not found');
});

it('[REG-2] [MCP-5] is not made again after its server was disconnected', async () => {
  const { outcome, arrivals } = await callAround(async ({ id }) => {
    expect((await portico.api('POST', `${SERVERS}/${id}/disconnect`)).status).toBeLessThan(300);
  });
  expect(arrivals).toBe(1);
  expect(JSON.stringify(outcome)).toContain('disconnected');
});
