/** Single questions to a model: the requests, and which answers are invalid. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { toCounted, toInputTokens } from '../../../src/models/metered.ts';
import { createHttpChat } from '../../../src/models/http-chat.ts';
import { ModelFailure, noModel, toModelError } from '../../../src/models/model-port.ts';
import { withRetry } from '../../../src/models/retry.ts';
import { createQuestions } from '../../../src/models/model-questions.ts';
import type { Script } from '../../fixtures/model-script.ts';
import { createWireModel, MODEL_KEY, WIRES, type Wire } from '../../fixtures/model-wires.ts';

const AnswerSchema = z.object({ colour: z.string(), shade: z.string().nullable() });
const question = {
  system: 'Be brief.',
  user: 'Which colour?',
  schema: { name: 'colour', type: AnswerSchema },
  maxTokens: 50,
  deadline: new AbortController().signal,
};

async function ask({ api, url, model, fake }: Wire, script: Script) {
  const answering = createWireModel(fake);
  vi.stubGlobal('fetch', answering.fetch);
  await answering.give(script);
  const findKey = () => Promise.resolve(MODEL_KEY);
  const chat = createHttpChat({ api, url, model, findKey });
  const retry = { silenceMs: 9_000, totalMs: 9_000, wait: async () => {}, random: () => 0 };
  const { complete } = createQuestions({
    name: model,
    attemptTurn: async (request, attempt) =>
      toCounted(await chat.chat(request, attempt), toInputTokens(api.dialect, request)),
    retrying: (signal, work) => withRetry(signal, retry, work),
  });
  const answer = await complete(question).catch((error: unknown) => error);
  return { answer, requests: await answering.requests(), problems: await answering.problems() };
}
afterEach(() => vi.unstubAllGlobals());

describe('a question to a model', () => {
  it.each(WIRES)('[FIND-3] is answered in its form, with tokens: $name', async compose => {
    const text = '{"colour":"red","shade":null}';
    const turns = [
      { text, tokens: { input: 10, output: 2 } },
      { text, tokens: null },
    ];
    const counted = await ask(compose, { turns });
    const value = { colour: 'red', shade: null };
    expect(counted.answer).toEqual({ value, tokens: 12 });
    expect(counted.problems).toEqual([]);
    const guessed = await ask(compose, { turns: turns.slice(1) });
    expect((guessed.answer as { tokens: number }).tokens).toBeGreaterThan(20);
  });

  it.each<[string, Script['turns'][number]]>([
    ['no JSON', { text: 'red' }],
    ['another form', { text: '{"color":"red"}' }],
    ['nothing', {}],
    ['an end for want of tokens', { text: '{"colour":"red","shade":null}', stop: 'length' }],
    ['a refusal', { text: '{"colour":"red","shade":null}', stop: 'refused' }],
    ['calls', { text: '{"colour":"red","shade":null}', calls: [{ name: 'a' }] }],
  ])('[FIND-3] that is answered by %s is retried, and then fails', async (_, turn) => {
    for (const compose of WIRES) {
      const { answer, requests } = await ask(compose, { turns: [turn], repeat: 'last' });
      expect(answer).toBeInstanceOf(ModelFailure);
      expect([(answer as ModelFailure).problem, requests.length]).toEqual(['nonsense', 4]);
    }
  });
});

describe('a failure of a model', () => {
  it('[LLM-4] is reported with its code, when to retry, and what to set', () => {
    expect(toModelError(new ModelFailure('budget', 90_500))).toMatchObject({
      code: 'model_budget',
      extras: { retryAfterSeconds: 91 },
    });
    const auth = toModelError(new ModelFailure('auth')) as Error;
    expect(auth).toMatchObject({ code: 'model_failed', extras: { data: { problem: 'auth' } } });
    expect(auth.message).toContain('PORTICO_MODEL_KEY');
    expect((toModelError(new ModelFailure('no_key')) as Error).message).toContain(
      'PORTICO_MODEL_KEY',
    );
    const other = new Error('other');
    expect(toModelError(other)).toBe(other);
    expect(noModel()).toMatchObject({ code: 'model_missing' });
    expect(noModel().message).toMatch(/PORTICO_MODEL_API.*PORTICO_MODEL.*PORTICO_MODEL_KEY/);
  });
});
