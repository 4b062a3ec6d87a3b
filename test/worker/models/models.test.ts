/** The models of a deployment in the Worker's runtime: keys from the registry, the daily budget, prices, and the platform's own models. */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createModels } from '../../../src/models/create-models.ts';
import { ModelFailure } from '../../../src/models/model-port.ts';
import type { ModelSettings } from '../../../src/models/model-settings.ts';
import { findUsage } from '../../../src/models/usage-store.ts';
import { sealEnvelope } from '../../../src/shared/crypto/envelope.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { secretPlace } from '../../../src/credentials/secret-schema.ts';
import { createWireModel, MODEL_KEY, WIRES } from '../../fixtures/model-wires.ts';

const keys = createKeyRing(env.PORTICO_KEYS);
const NOW = Date.parse('2026-11-22T12:00:00Z');
const SETTINGS: ModelSettings = {
  api: 'openai',
  url: 'https://model.example.com/v1',
  name: 'm',
  key: MODEL_KEY,
  embedModel: 'v',
  timeoutMs: 60_000,
  prices: { input: 2, output: 10 },
  perDay: { calls: 3, tokens: 100_000 },
};
const ASK = {
  system: 's',
  messages: [{ role: 'user', text: 'u' }] as const,
  maxTokens: 100,
  signal: new AbortController().signal,
};
/** One per test, so that no other test has drawn from it. */
const purposeOf = () => `test-${crypto.randomUUID()}`;
const modelsOf = (settings: Partial<ModelSettings>, ai?: { run: Run }) => {
  const ports = { db: env.DB, keys, ai, wait: async () => {}, now: () => NOW };
  return createModels({ ...SETTINGS, ...settings }, ports);
};
const chatOf = (settings: Partial<ModelSettings>, purpose: string, ai?: { run: Run }) => {
  const chat = modelsOf(settings, ai).chat(purpose);
  if (!chat) throw new Error('There is a model');
  return chat;
};
type Run = (model: string, inputs: Record<string, unknown>) => Promise<unknown>;
const problemOf = async (work: Promise<unknown>): Promise<string> => {
  const thrown: unknown = await work.catch((error: unknown) => error);
  return thrown instanceof ModelFailure ? thrown.problem : `no failure: ${String(thrown)}`;
};
afterEach(() => vi.unstubAllGlobals());

async function putSecret(name: string, value: string, origin: string): Promise<void> {
  const sealed = await sealEnvelope(keys, value, secretPlace({ name, origins: [origin] }));
  await env.DB.prepare(
    `INSERT OR REPLACE INTO secrets (name, sealed, origins, revision, created_at, updated_at)
     VALUES (?, ?, ?, 1, 0, 0)`,
  )
    .bind(name, sealed, JSON.stringify([origin]))
    .run();
}

describe.each(WIRES)('a model in the Worker: $name', ({ name: api, url, model: name, fake }) => {
  it.each([true, false])(
    '[LLM-3] answers, with tokens and price counted; streamed: %s',
    async streams => {
      const model = createWireModel(fake);
      vi.stubGlobal('fetch', model.fetch);
      await model.give({
        turns: [{ text: 'Grüße 😀', tokens: { input: 1_000, output: 200 } }],
        repeat: 'last',
      });
      const purpose = purposeOf();
      const chat = chatOf({ api, url, name }, purpose);
      let heard = '';
      const onText = (text: string) => void (heard += text);
      const reply = await chat.chat(streams ? { ...ASK, onText } : ASK);
      expect(reply).toMatchObject({ text: 'Grüße 😀', tokens: { input: 1_000, output: 200 } });
      expect(heard).toBe(streams ? 'Grüße 😀' : '');
      expect(chat.costOf({ input: 1_000, output: 200 })).toBeCloseTo(0.004);
      expect(await findUsage(env.DB, '2026-11-22', purpose)).toEqual({ calls: 1, tokens: 1_200 });
    },
  );
});

describe('the key of a model', () => {
  it('[LLM-3] [SEC-1] is a secret of the registry, if it may be sent there', async () => {
    const [compose] = WIRES;
    const model = createWireModel(compose?.fake ?? never());
    vi.stubGlobal('fetch', model.fetch);
    await model.give({ turns: [{ text: 'hi' }], repeat: 'last' });
    await putSecret('MODEL_HERE', MODEL_KEY, 'https://model.example.com');
    await putSecret('MODEL_ELSEWHERE', MODEL_KEY, 'https://other.example.com');
    const ask = (key: string) => chatOf({ key }, purposeOf()).chat(ASK);
    expect((await ask('${MODEL_HERE}')).text).toBe('hi');
    expect(await problemOf(ask('${MODEL_ELSEWHERE}'))).toBe('no_key');
    expect(await problemOf(ask('${MODEL_NOWHERE}'))).toBe('no_key');
    expect(await problemOf(ask('${what'))).toBe('no_key');
    expect(await model.counts()).toMatchObject({ requests: 1, unauthorized: 0 });
    // A change counts at once.
    const chat = chatOf({ key: '${MODEL_HERE}' }, purposeOf());
    await putSecret('MODEL_HERE', 'another', 'https://model.example.com');
    expect(await problemOf(chat.chat(ASK))).toBe('auth');
  });
});

describe('the daily budget', () => {
  it('[LLM-3] is drawn before each attempt, corrected after it, and separate for each purpose', async () => {
    const [compose] = WIRES;
    const model = createWireModel(compose?.fake ?? never());
    vi.stubGlobal('fetch', model.fetch);
    const said = { text: 'hi', tokens: { input: 10, output: 5 } };
    await model.give({ turns: [{ error: { status: 429 } }, said, said, said] });
    const purpose = purposeOf();
    const chat = chatOf({}, purpose);
    await chat.chat(ASK);
    // The limited attempt is a call, and no tokens.
    expect(await findUsage(env.DB, '2026-11-22', purpose)).toEqual({ calls: 2, tokens: 15 });
    await chat.chat(ASK);
    const spent = await chat.chat(ASK).catch((error: unknown) => error);
    expect(spent).toMatchObject({ problem: 'budget', retryAfterMs: 43_200_000 });
    expect(await model.requests()).toHaveLength(3);
    expect((await chatOf({}, purposeOf()).chat(ASK)).text).toBe('hi');
    const poor = chatOf({ perDay: { calls: 9, tokens: 99 } }, purposeOf());
    expect(await problemOf(poor.chat(ASK))).toBe('budget');
  });

  it('[LLM-3] applies to vectors', async () => {
    const [compose] = WIRES;
    vi.stubGlobal('fetch', createWireModel(compose?.fake ?? never()).fetch);
    const purpose = purposeOf();
    const embedder = modelsOf({}).embedder(purpose);
    const texts = Array.from({ length: 60 }, (_, i) => `text ${i}`);
    expect(await embedder?.embed(texts, ASK.signal)).toHaveLength(60);
    expect(await findUsage(env.DB, '2026-11-22', purpose)).toMatchObject({ calls: 1 });
    const poor = modelsOf({ perDay: { calls: 9, tokens: 9 } }).embedder(purposeOf());
    expect(await problemOf(poor?.embed(texts, ASK.signal) ?? never())).toBe('budget');
    expect(modelsOf({ embedModel: undefined }).embedder(purpose)).toBeUndefined();
  });
});

function never(): never {
  throw new Error('There is a wire format');
}

describe('the models of the platform', () => {
  const purpose = purposeOf();
  const plain = { perDay: { calls: 1_000, tokens: 10_000_000 } };
  const ask = (run: Run, more: object = {}) =>
    chatOf({ ...plain, api: 'workers-ai', name: '@cf/m' }, purpose, { run }).chat({
      ...ASK,
      ...more,
    });
  const streamOf = (...chunks: object[]) =>
    new Response(
      [...chunks.map(chunk => JSON.stringify(chunk)), '[DONE]']
        .map(data => `data: ${data}\n\n`)
        .join(''),
    ).body;

  it('[LLM-3] are asked like chat completions, and answer in a form of their own', async () => {
    const run = vi.fn<Run>(async () => ({
      response: 'I look',
      tool_calls: [{ name: 'clock', arguments: { zone: 'utc' } }],
      usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
    }));
    expect(await ask(run)).toMatchObject({
      text: 'I look',
      stop: 'calls',
      calls: [
        { id: expect.stringMatching(/^[0-9a-z]{9}$/), name: 'clock', arguments: { zone: 'utc' } },
      ],
      tokens: { input: 9, output: 4 },
    });
    expect(run.mock.calls[0]?.slice(0, 2)).toMatchObject([
      '@cf/m',
      { max_tokens: 100, messages: [{}, {}] },
    ]);
    expect(await ask(async () => ({ response: 'ok' }))).toMatchObject({ text: 'ok', stop: 'end' });
  });

  it('[LLM-3] may answer in the form of chat completions', async () => {
    const message = { role: 'assistant', content: 'ok' };
    const run = async () => ({ choices: [{ message, finish_reason: 'stop' }] });
    expect(await ask(run)).toMatchObject({ text: 'ok', stop: 'end' });
  });

  it('[LLM-3] stream in both forms', async () => {
    let heard = '';
    const onText = (text: string) => void (heard += text);
    const own = async () =>
      streamOf(
        { response: 'Grüße ' },
        { response: '😀' },
        { response: '', tool_calls: [{ name: 'clock', arguments: {} }] },
        { response: '', usage: { prompt_tokens: 3, completion_tokens: 2 } },
      );
    expect(await ask(own, { onText })).toMatchObject({
      text: 'Grüße 😀',
      stop: 'calls',
      calls: [{ name: 'clock', arguments: {} }],
      tokens: { input: 3, output: 2 },
    });
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    const other = async () => streamOf(chunk({ content: ' ja' }), chunk({}, 'stop'));
    expect(await ask(other, { onText })).toMatchObject({ text: ' ja', stop: 'end' });
    expect(heard).toBe('Grüße 😀 ja');
  });

  it('[LLM-4] must follow a schema, and then do not stream', async () => {
    const run = vi.fn<Run>(async () => ({ response: { colour: 'red' } }));
    const answer = { name: 'paint', schema: { type: 'object' } };
    const reply = await ask(run, { answer, onText: () => {} });
    expect(reply.text).toBe('{"colour":"red"}');
    const [, inputs] = run.mock.calls[0] ?? [];
    expect(inputs).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { type: 'object' } },
    });
    expect(inputs).not.toHaveProperty('stream');
  });

  it.each([
    ['AiError: 3040: Capacity temporarily exceeded', 'rate_limited'],
    ['AiError: 5007: No such model', 'not_found'],
    ['AiError: 5016: Model agreement', 'auth'],
    ['AiError: 5004: Invalid data', 'refused'],
    ['InferenceUpstreamError', 'unavailable'],
  ])('[LLM-3] fail with %s', async (message, problem) => {
    expect(await problemOf(ask(() => Promise.reject(new Error(message))))).toBe(problem);
  });

  it('[LLM-3] are aborted with the caller, and absent without a binding', async () => {
    const gone = new AbortController();
    const run = () => {
      gone.abort();
      return new Promise(() => {});
    };
    expect(await problemOf(ask(run, { signal: gone.signal }))).toBe('aborted');
    const bare = chatOf({ ...plain, api: 'workers-ai' }, purpose).chat(ASK);
    expect(await problemOf(bare)).toBe('no_binding');
  });

  it('[LLM-3] compute vectors', async () => {
    const run = vi.fn<Run>(async () => ({
      shape: [2, 2],
      data: [
        [1, 0],
        [0, 1],
      ],
    }));
    const embedder = modelsOf({ ...plain, api: 'workers-ai' }, { run }).embedder(purpose);
    expect(await embedder?.embed(['a', 'b'], ASK.signal)).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(run.mock.calls[0]?.slice(0, 2)).toMatchObject(['v', { text: ['a', 'b'] }]);
  });
});
