/** A model behind an HTTP API: the requests, and the outcome of every kind of failure. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createHttpChat } from '../../../src/models/http-chat.ts';
import { ModelFailure } from '../../../src/models/model-port.ts';
import { OPENAI_CHAT_API } from '../../../src/models/openai-api.ts';
import { withRetry, type Attempt, type RetryOptions } from '../../../src/models/retry.ts';
import type { Turn } from '../../fixtures/model-script.ts';
import { createWireModel, MODEL_KEY, WIRES, type Wire } from '../../fixtures/model-wires.ts';

const [OPENAI] = WIRES as [Wire];
const REQUEST = { system: 's', messages: [{ role: 'user', text: 'u' }] as const, maxTokens: 50 };
const attempt = (signal: AbortSignal = AbortSignal.timeout(60_000)): Attempt => ({
  signal,
  onSign: () => {},
  onHandedOn: () => {},
});
const chat = createHttpChat({
  api: OPENAI_CHAT_API,
  url: 'https://model.example.com/v1/',
  model: 'm-1',
  embedModel: 'v-1',
  findKey: () => Promise.resolve(MODEL_KEY),
});
const serve = (...answers: (() => Response | Promise<Response>)[]) => {
  const fetch = vi.fn<typeof globalThis.fetch>(async () => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer?.() ?? Response.error();
  });
  vi.stubGlobal('fetch', fetch);
  return fetch;
};
const completion = (content: unknown, more: object = {}) =>
  Response.json({ choices: [{ message: { content }, finish_reason: 'stop', ...more }] });
const failureOf = async (work: Promise<unknown>): Promise<ModelFailure> => {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ModelFailure);
  return thrown as ModelFailure;
};
const script = async (turn: Partial<Turn>, compose = OPENAI) => {
  const model = createWireModel(compose.fake);
  vi.stubGlobal('fetch', model.fetch);
  await model.give({ turns: [turn] });
  return model;
};
afterEach(() => vi.unstubAllGlobals());

describe('a model behind an HTTP API', () => {
  it.each([
    ['openai', '/v1/chat/completions', { authorization: `Bearer ${MODEL_KEY}` }],
    ['openai-responses', '/v1/responses', { authorization: `Bearer ${MODEL_KEY}` }],
    ['anthropic', '/v1/messages', { 'x-api-key': MODEL_KEY, 'anthropic-version': '2023-06-01' }],
    ['gemini', '/v1beta/models/gemini-3-x:generateContent', { 'x-goog-api-key': MODEL_KEY }],
  ])('[LLM-3] is asked by one POST, with its key: %s', async (name, path, headers) => {
    const compose = WIRES.find(known => known.name === name) ?? OPENAI;
    const fetch = serve(() => new Response(null, { status: 400 }));
    const { api, url, model } = compose;
    const findKey = () => Promise.resolve(MODEL_KEY);
    await failureOf(createHttpChat({ api, url, model, findKey }).chat(REQUEST, attempt()));
    const [address, init] = fetch.mock.calls[0] ?? [];
    expect(address).toBe(`https://model.example.com${path}`);
    expect(init).toMatchObject({ method: 'POST', redirect: 'manual', headers });
  });

  it('[LLM-3] gets whole characters only, since APIs refuse half of one', async () => {
    const fetch = serve(() => completion('hi'));
    const texts = ['a\ud83d', '\ude00b', '\ud83d\ude00', 'c:\\ud83d \\\ud83d', '"\n\u0001'];
    const messages = texts.map(text => ({ role: 'user', text }) as const);
    await chat.chat({ system: 's', messages, maxTokens: 5 }, attempt());
    const sent = JSON.parse(String(fetch.mock.calls[0]?.[1]?.body)) as {
      messages: { content: string }[];
    };
    const whole = ['a\ufffd', '\ufffdb', '\ud83d\ude00', 'c:\\ud83d \\\ufffd', '"\n\u0001'];
    expect(sent.messages.slice(1).map(({ content }) => content)).toEqual(whole);
  });

  it('[LLM-3] is asked without a key if there is none', async () => {
    const fetch = serve(() => completion('hi'));
    const { api, url, model } = OPENAI;
    const bare = createHttpChat({ api, url, model, findKey: () => Promise.resolve(undefined) });
    await bare.chat(REQUEST, attempt());
    expect(fetch.mock.calls[0]?.[1]?.headers).toEqual({ 'content-type': 'application/json' });
  });

  it.each([
    [500, {}, 'unavailable', undefined],
    [529, {}, 'unavailable', undefined],
    [503, { 'retry-after': '2' }, 'unavailable', 2_000],
    [429, { 'retry-after': '7' }, 'rate_limited', 7_000],
    [429, { 'retry-after': '99999999' }, 'rate_limited', 3_600_000],
    [429, { 'retry-after': 'soon' }, 'rate_limited', undefined],
    [401, {}, 'auth', undefined],
    [403, {}, 'auth', undefined],
    [404, {}, 'not_found', undefined],
    [422, {}, 'refused', undefined],
    [302, { location: 'https://elsewhere.example.com' }, 'refused', undefined],
  ])('[LLM-3] that answers %s %j has failed: %s', async (status, headers, problem, wait) => {
    serve(() => new Response(null, { status, headers }));
    const failure = await failureOf(chat.chat(REQUEST, attempt()));
    expect([failure.problem, failure.retryAfterMs]).toEqual([problem, wait]);
  });

  it.each([
    ['no choices', () => Response.json({ choices: [] })],
    ['a page', () => new Response('<html>')],
    ['too much', () => new Response(' '.repeat(8_388_609))],
    ['vectors of others', () => Response.json({ data: [] })],
  ])('[LLM-3] that answers with %s is reported as nonsense', async (what, answer) => {
    serve(answer);
    const asked =
      what === 'vectors of others'
        ? chat.embed?.of(['a'], attempt())
        : chat.chat(REQUEST, attempt());
    expect((await failureOf(asked ?? Promise.resolve())).problem).toBe('nonsense');
  });

  it.each(WIRES)(
    '[SEC-8] never shows any addresses or keys in its failures: $name',
    async compose => {
      const wrong = `${MODEL_KEY}-other`;
      const { api, url, model, fake } = compose;
      const { fetch } = createWireModel(fake);
      const answers = [
        fetch,
        () => Promise.reject(new Error(`connect ${url} ${wrong}`)),
        async () => Response.json({ error: { message: `${url} ${wrong}` } }, { status: 400 }),
        async () => new Response(`data: ${url} ${wrong}\n\n`, EVENTS),
      ];
      const asked = createHttpChat({ api, url, model, findKey: () => Promise.resolve(wrong) });
      const problems: string[] = [];
      for (const answer of answers) {
        vi.stubGlobal('fetch', answer);
        const failure = await failureOf(asked.chat(REQUEST, attempt(), () => {}));
        problems.push(failure.problem);
        const told = `${failure.message} ${JSON.stringify(failure)} ${String(failure.cause)}`;
        expect(told).not.toMatch(/model\.example\.com|model-key/);
      }
      expect(problems).toEqual(['auth', 'unavailable', 'refused', 'nonsense']);
    },
  );

  it('[LLM-3] is not followed to a redirect', async () => {
    const model = await script({ error: { status: 307 } });
    expect((await failureOf(chat.chat(REQUEST, attempt()))).problem).toBe('refused');
    expect(await model.counts()).toMatchObject({ elsewhere: 0 });
  });

  it.each(WIRES)('[LLM-3] may break off: $name', async compose => {
    const { api, url, model } = compose;
    const findKey = () => Promise.resolve(MODEL_KEY);
    const asked = createHttpChat({ api, url, model, findKey });
    const ask = async (turn: Partial<Turn>, onText?: (text: string) => void) => {
      await script(turn, compose);
      return (await failureOf(asked.chat(REQUEST, attempt(), onText))).problem;
    };
    const text = 'a text that is long enough to be cut in its middle';
    expect(await ask({ text, stop: 'cut' })).toBe('nonsense');
    expect(await ask({ text, stop: 'failed' })).toBe('unavailable');
    let heard = '';
    expect(await ask({ text, stop: 'cut' }, piece => void (heard += piece))).toBe('broken');
    expect(text.startsWith(heard) && heard !== '' && heard !== text).toBe(true);
    expect(await ask({ text, stop: 'failed' }, () => {})).toBe('broken');
  });

  it('[LLM-3] that cannot stream is read all at once', async () => {
    serve(() => completion('all of it'));
    const heard: string[] = [];
    await chat.chat(REQUEST, attempt(), text => void heard.push(text));
    expect(heard).toEqual(['all of it']);
  });

  it('[LLM-3] that sends an endless event is cut off', async () => {
    const line = new TextEncoder().encode(`data: ${'x'.repeat(1_000_000)}`);
    const body = new ReadableStream<Uint8Array>({ pull: controller => controller.enqueue(line) });
    serve(() => new Response(body, EVENTS));
    const failure = await failureOf(chat.chat(REQUEST, attempt(), () => {}));
    expect(failure.problem).toBe('nonsense');
  });
});

const EVENTS = { headers: { 'content-type': 'text/event-stream' } };

describe('a model that is retried', () => {
  const retry = (waits: number[], more: Partial<RetryOptions> = {}): RetryOptions => ({
    silenceMs: 60_000,
    totalMs: 60_000,
    wait: async ms => void waits.push(ms),
    random: () => 1,
    ...more,
  });
  const never = new AbortController().signal;
  const ask = (options: RetryOptions, onText?: (text: string) => void, signal = never) =>
    withRetry(signal, options, one => chat.chat(REQUEST, one, onText));

  it('[LLM-3] is retried after growing pauses, or the time it asked for', async () => {
    const waits: number[] = [];
    serve(
      () => new Response(null, { status: 500 }),
      () => new Response(null, { status: 429, headers: { 'retry-after': '9' } }),
      () => Promise.reject(new Error('reset')),
      () => completion('red'),
    );
    expect((await ask(retry(waits))).text).toBe('red');
    expect(waits).toEqual([500, 9_000, 2_000]);
  });

  it('[LLM-3] is asked four times at most, not again after a refusal, and not beyond the time limit', async () => {
    const broken = serve(() => new Response(null, { status: 500 }));
    await failureOf(ask(retry([])));
    expect(broken).toHaveBeenCalledTimes(4);
    for (const status of [400, 401, 404]) {
      const refusing = serve(() => new Response(null, { status }));
      await failureOf(ask(retry([])));
      expect(refusing).toHaveBeenCalledTimes(1);
    }
    const limited = serve(
      () => new Response(null, { status: 429, headers: { 'retry-after': '9' } }),
    );
    const failure = await failureOf(ask(retry([], { totalMs: 5_000 })));
    expect([failure.problem, failure.retryAfterMs]).toEqual(['rate_limited', 9_000]);
    expect(limited).toHaveBeenCalledTimes(1);
  });

  it('[LLM-3] streams an answer whatever the case of its media type', async () => {
    const text = (content: string | null, finish_reason: string | null) =>
      `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason }] })}\n\n`;
    const body = `${text('Hel', null)}${text('lo', null)}${text(null, 'stop')}data: [DONE]\n\n`;
    serve(() => new Response(body, { headers: { 'content-type': 'Text/Event-Stream' } }));
    const heard: string[] = [];
    const reply = await chat.chat(REQUEST, attempt(), piece => void heard.push(piece));
    expect([reply.text, heard]).toEqual(['Hello', ['Hel', 'lo']]);
  });

  it('[LLM-3] is retried if a stream broke before any text, and never after it', async () => {
    const whole = 'a text that is long enough to be cut in its middle';
    const model = createWireModel(OPENAI.fake);
    vi.stubGlobal('fetch', model.fetch);
    const heard: string[] = [];
    const calls = [{ name: 'a', arguments: { long: whole } }];
    await model.give({ turns: [{ calls, stop: 'cut' }, { text: whole }] });
    expect((await ask(retry([]), text => void heard.push(text))).text).toBe(whole);
    expect(heard.join('')).toBe(whole);
    await model.give({ turns: [{ text: whole, stop: 'cut' }, { text: whole }] });
    expect((await failureOf(ask(retry([]), () => {}))).problem).toBe('broken');
    expect(await model.requests()).toHaveLength(1);
  });

  it('[LLM-3] times out if it is silent for too long, streamed or whole, and its connection is closed', async () => {
    for (const onText of [undefined, () => {}]) {
      const model = await script({ text: 'some text to be heard', stop: 'hang' });
      const failure = await failureOf(ask(retry([], { silenceMs: 50 }), onText));
      expect(failure.problem).toBe('timeout');
      await expect.poll(() => model.counts()).toMatchObject({ requests: 1, closed: 1 });
    }
  });

  it('[LLM-3] is disconnected if the caller leaves, during an answer or a pause', async () => {
    const gone = new AbortController();
    const model = await script({ text: 'some text to be heard', stop: 'hang' });
    const failure = await failureOf(ask(retry([]), () => gone.abort(), gone.signal));
    expect(failure.problem).toBe('aborted');
    await expect.poll(() => model.counts()).toMatchObject({ closed: 1 });
    const left = new AbortController();
    const broken = serve(() => new Response(null, { status: 500 }));
    const wait = async () => left.abort();
    expect((await failureOf(ask(retry([], { wait }), undefined, left.signal))).problem).toBe(
      'aborted',
    );
    expect(broken).toHaveBeenCalledTimes(1);
  });
});
