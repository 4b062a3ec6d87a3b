/**
 * Calls that wait for their modern client: a legacy server's request comes as `input_required`, and the retry resumes the call, on the
 * stream that stayed open, until its end, its limit, or the end of the object that holds it. After five calls without a server request the
 * Worker makes the sixth call of a tool itself, and hands it over to the object. For a server with a stream per session, the Worker does so
 * in a session to which it listens.
 */
import { principalOwner } from '../../../src/shared/identity/object-owners.ts';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { capabilitiesKey, clientCapabilitiesOf } from '../../../src/shared/client-capabilities.ts';
import {
  answersOf,
  CLIENT_CAPABILITIES,
  callModern,
  connectAsking,
  reasonOf,
  toldBy,
  type Round,
} from '../support/asking-clients.ts';
import { answerTo, type Plan } from '../support/asking-script.ts';
import { loseMemory } from '../support/lose-memory.ts';
import { callUntilHere, watchObjects } from '../support/quiet-tools.ts';
import { PATIENT, createPortico } from '../support/portico.ts';

const portico = createPortico();
const CASES = [
  { kind: 'http-legacy', after: 'none' },
  { kind: 'http-standing', after: 'none' },
  { kind: 'sse-legacy', after: 'none' },
  { kind: 'http-legacy', after: 'quiet ones' },
  { kind: 'http-standing', after: 'quiet ones' },
] as const;
type Case = (typeof CASES)[number];
/** The default of `PORTICO_QUESTION_TIMEOUT_MS`. */
const QUESTION_TIMEOUT_MS = 600_000;

/** From now on a server request may wait only this long, in objects too. */
function shortenQuestions(toMs: number): void {
  const { setTimeout: wait } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms?: number) =>
    wait(work, ms === QUESTION_TIMEOUT_MS ? toMs : ms)) as typeof setTimeout);
}

/** A server, and a call with its first server request. */
async function suspend({ kind, after }: Case, more: Partial<Plan> = {}) {
  const { name, server, id } = await connectAsking(portico, kind);
  if (after !== 'none') await callUntilHere(portico, name);
  const plan: Plan = { mark: `parked-${name}`, rounds: 1, ...more };
  const first = await callModern(portico, name, plan);
  expect(first.questions).toHaveLength(more.together ?? 1);
  const resume = ({ state }: Round, responses: object) =>
    callModern(portico, name, plan, { state, responses });
  const seen = () => server.call(plan.mark);
  return { name, server, id, plan, first, resume, seen };
}

describe.each(CASES)('a call to $kind that is suspended after $after', each => {
  const { kind } = each;
  it('[MCP-4] [MCP-5] survives many retries, and each answer is given once and in order', async () => {
    const { first, resume, seen, server, plan } = await suspend(each, { rounds: 4, together: 2 });
    let round = first;
    let rounds = 0;
    while (round.questions.length > 0) {
      rounds += 1;
      round = await resume(round, answersOf(round.questions, 'ada'));
    }
    expect(rounds).toBe(4);
    const expected = Array.from({ length: 8 }, (_, n) => answerTo(`${plan.mark}#${n}`, 'ada'));
    const { answers } = toldBy(round.answer);
    expect(answers.map(given => (given as { result: unknown }).result)).toEqual(expected);
    expect(seen()).toMatchObject({ arrivals: 1, done: true, cancelled: false, cut: false });
    expect(server.stray).toEqual([]);
  });

  it.each<[string, (key: string) => object]>([
    ['nothing', () => ({})],
    ['another question', () => ({ other: answerTo('x', 'ada') })],
    ['a question that was never asked', key => ({ [`${key}0`]: answerTo('x', 'ada') })],
  ])('[MCP-4] [MCP-5] is asked again if the client answers %s', async (_what, given) => {
    const { first, resume, seen } = await suspend(each);
    const again = await resume(first, given(first.questions[0]?.key ?? ''));
    expect(again.questions).toEqual(first.questions);
    expect(seen()?.answers).toEqual([]);
    const last = await resume(again, answersOf(again.questions, 'ada'));
    expect(toldBy(last.answer).answers).toHaveLength(1);
    expect(seen()?.arrivals).toBe(1);
  });

  it('[MCP-4] [MCP-5] is asked again for the rest if the client answers a part', async () => {
    const { first, resume, seen, plan } = await suspend(each, { together: 3 });
    let round = first;
    for (const left of [2, 1, 0]) {
      const [last] = round.questions.slice(-1);
      round = await resume(round, answersOf(last ? [last] : [], 'ada'));
      expect(round.questions).toEqual(first.questions.slice(0, left));
    }
    const given = toldBy(round.answer).answers as { result: ReturnType<typeof answerTo> }[];
    expect(given.map(({ result }) => result.content.echo)).toEqual(
      [0, 1, 2].map(n => `${plan.mark}#${n}`),
    );
    expect(seen()?.arrivals).toBe(1);
  });

  it('[MCP-5] [UP-3] is ended at its limit if its client never returns', async () => {
    shortenQuestions(200);
    const { waiting } = watchObjects();
    const { first, resume, seen, server } = await suspend(each);
    const streams = server.openStreams;
    await vi.waitFor(() => expect(seen()).toMatchObject({ cancelled: true, done: false }), PATIENT);
    const isCut = () => (kind === 'sse-legacy' ? server.openStreams < streams : seen()?.cut);
    await vi.waitFor(() => expect(isCut()).toBe(true), PATIENT);
    // The call's timeout ends with that of the server request, a moment before it is forgotten.
    await vi.waitFor(() => expect(waiting()).toBe(0), PATIENT);
    const late = await resume(first, answersOf(first.questions, 'ada'));
    expect(reasonOf(late.answer)).toBe('call_gone');
    expect(seen()?.arrivals).toBe(1);
    expect(seen()?.answers.filter(({ result }) => result)).toEqual([]);
  });

  it('[MCP-5] [MCP-10] is lost with its object, and the retry says so', async () => {
    const { first, resume, seen, id, server } = await suspend(each);
    const owner = principalOwner(
      'setup-admin',
      id,
      capabilitiesKey(clientCapabilitiesOf(CLIENT_CAPABILITIES)),
    );
    await loseMemory(env.CLIENT_SESSION.getByName(owner));
    const late = await resume(first, answersOf(first.questions, 'ada'));
    expect([late.status, late.answer.result?.isError, reasonOf(late.answer)]).toEqual([
      200,
      true,
      'call_gone',
    ]);
    expect(seen()).toMatchObject({ arrivals: 1, answers: [], done: false });
    expect(server.stray).toEqual([]);
  });

  it('[MCP-5] [UP-3] and resumed is cancelled within two seconds when its client disconnects', async () => {
    const { first, name, plan, seen } = await suspend(each, { hang: true });
    const client = new AbortController();
    const { signal } = client;
    const responses = answersOf(first.questions, 'ada');
    const going = callModern(portico, name, plan, { state: first.state, responses, signal });
    await vi.waitFor(() => expect(seen()?.answers).toHaveLength(1), PATIENT);
    client.abort();
    await vi.waitFor(() => expect(seen()?.cancelled).toBe(true), PATIENT);
    expect(seen()).toMatchObject({ arrivals: 1, done: false });
    await going.catch(() => undefined);
  });
});
