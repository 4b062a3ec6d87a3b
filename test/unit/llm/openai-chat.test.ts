/** The adapter of OpenAI-compatible endpoints: what it sends, and what it makes of every kind of answer. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ModelFailure, type ModelQuestion } from '../../../src/llm/model-port.ts';
import { createOpenAiChat } from '../../../src/llm/openai-chat.ts';
import { withPatience } from '../../../src/llm/patient-model.ts';

const AnswerSchema = z.object({ colour: z.string() });
const question = (): ModelQuestion<z.infer<typeof AnswerSchema>> => ({
  system: 'Be brief.',
  user: 'Which colour?',
  schema: { name: 'colour', type: AnswerSchema },
  maxTokens: 50,
  deadline: AbortSignal.timeout(10_000),
});
const completion = (content: unknown, more: object = {}) =>
  Response.json({ choices: [{ message: { content }, finish_reason: 'stop', ...more }] });
const chat = createOpenAiChat({ url: 'https://model.example.com/v1/', model: 'm-1', key: 'k' });
const serve = (...answers: (() => Response | Promise<Response>)[]) => {
  const fetch = vi.fn<typeof globalThis.fetch>(async () => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer?.() ?? Response.error();
  });
  vi.stubGlobal('fetch', fetch);
  return fetch;
};
const failureOf = async (work: Promise<unknown>): Promise<ModelFailure> => {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ModelFailure);
  return thrown as ModelFailure;
};
afterEach(() => vi.unstubAllGlobals());

describe('an OpenAI-compatible endpoint', () => {
  it('[FIND-3] is asked by one POST, with the schema of the answer and the key', async () => {
    const fetch = serve(() =>
      Response.json({
        choices: [{ message: { content: '{"colour":"red"}' } }],
        usage: { total_tokens: 12 },
      }),
    );
    expect(await chat.complete(question())).toEqual({ value: { colour: 'red' }, tokens: 12 });
    const [url, init] = fetch.mock.calls[0] ?? [];
    expect(url).toBe('https://model.example.com/v1/chat/completions');
    expect(init).toMatchObject({
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: 'Bearer k' },
    });
    expect(JSON.parse(init?.body as string)).toMatchObject({
      model: 'm-1',
      max_tokens: 50,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Which colour?' },
      ],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'colour', strict: true, schema: { type: 'object' } },
      },
    });
  });

  it.each([
    ['no JSON', () => completion('red')],
    ['another form', () => completion('{"color":"red"}')],
    ['no content', () => completion(null)],
    [
      'an end for want of tokens',
      () => completion('{"colour":"red"}', { finish_reason: 'length' }),
    ],
    ['no choices', () => Response.json({ choices: [] })],
    ['a page', () => new Response('<html>')],
  ])('[FIND-3] that answers with %s has said nothing', async (_what, answer) => {
    serve(answer);
    expect((await failureOf(chat.complete(question()))).problem).toBe('nonsense');
  });

  it.each([
    [500, {}, 'unavailable', undefined],
    [503, { 'retry-after': '2' }, 'unavailable', 2_000],
    [429, { 'retry-after': '7' }, 'rate_limited', 7_000],
    [429, { 'retry-after': '99999999' }, 'rate_limited', 3_600_000],
    [429, { 'retry-after': 'soon' }, 'rate_limited', undefined],
    [401, {}, 'refused', undefined],
    [302, { location: 'https://elsewhere.example.com' }, 'refused', undefined],
  ])('[FIND-3] that answers %s %j has failed: %s', async (status, headers, problem, wait) => {
    serve(() => new Response(null, { status, headers }));
    const failure = await failureOf(chat.complete(question()));
    expect([failure.problem, failure.retryAfterMs]).toEqual([problem, wait]);
  });

  it('[FIND-3] [SEC-8] tells nothing of addresses or keys where it fails', async () => {
    serve(() => Promise.reject(new Error('connect https://model.example.com k')));
    const failure = await failureOf(chat.complete(question()));
    expect(failure.message).toBe('The model cannot be reached or failed');
  });

  it('[FIND-3] has no more than its time', async () => {
    serve(() => Promise.reject(new Error('aborted')));
    const failure = await failureOf(
      chat.complete({ ...question(), deadline: AbortSignal.abort() }),
    );
    expect(failure.problem).toBe('timeout');
  });
});

describe('a model that is asked again', () => {
  const patient = (totalMs = 60_000) => {
    const waits: number[] = [];
    const model = withPatience(chat, {
      attemptMs: 1_000,
      totalMs,
      wait: async ms => void waits.push(ms),
      random: () => 1,
    });
    return { model, waits };
  };

  it('[FIND-3] is given growing pauses, and the time it asked for', async () => {
    serve(
      () => new Response(null, { status: 500 }),
      () => new Response(null, { status: 429, headers: { 'retry-after': '9' } }),
      () => completion('what?'),
      () => completion('{"colour":"red"}'),
    );
    const { model, waits } = patient();
    expect((await model.complete(question())).value).toEqual({ colour: 'red' });
    expect(waits).toEqual([500, 9_000, 2_000]);
  });

  it('[FIND-3] is asked four times at most, not at all after a refusal, and not beyond its time', async () => {
    const broken = serve(() => new Response(null, { status: 500 }));
    await failureOf(patient().model.complete(question()));
    expect(broken).toHaveBeenCalledTimes(4);
    const refusing = serve(() => new Response(null, { status: 400 }));
    await failureOf(patient().model.complete(question()));
    expect(refusing).toHaveBeenCalledTimes(1);
    const limited = serve(
      () => new Response(null, { status: 429, headers: { 'retry-after': '9' } }),
    );
    const failure = await failureOf(patient(5_000).model.complete(question()));
    expect([failure.problem, failure.retryAfterMs]).toEqual(['rate_limited', 9_000]);
    expect(limited).toHaveBeenCalledTimes(1);
  });
});
