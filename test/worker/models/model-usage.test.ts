/** What administrators see of the language model: its use, and its failures. */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { createModels } from '../../../src/models/create-models.ts';
import type { ModelSettings } from '../../../src/models/model-settings.ts';
import type { ModelView } from '../../../src/models/usage-schema.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { createWireModel, MODEL_KEY } from '../../fixtures/model-wires.ts';
import { openAiApi } from '../../fixtures/model-openai-api.ts';
import { createPortico, createToken } from '../support/portico.ts';

const keys = createKeyRing(env.PORTICO_KEYS);
const SETTINGS: ModelSettings = {
  api: 'openai',
  url: 'https://model.example.com/v1',
  name: 'm',
  key: MODEL_KEY,
  embedModel: undefined,
  timeoutMs: 60_000,
  prices: undefined,
  perDay: { calls: 9, tokens: 9_000 },
};
const ASK = {
  system: 's',
  messages: [{ role: 'user', text: 'u' }] as const,
  maxTokens: 100,
  signal: new AbortController().signal,
};
afterEach(() => vi.unstubAllGlobals());

it('[LLM-3] [SEC-2] is shown to administrators, with failures', async () => {
  const model = createWireModel(openAiApi);
  vi.stubGlobal('fetch', model.fetch);
  const purpose = `test-${crypto.randomUUID()}`;
  await model.give({
    turns: [{ error: { status: 500 } }, { text: 'hi' }, { error: { status: 404 } }],
  });
  const ports = { db: env.DB, keys, wait: async () => {} };
  const chat = createModels(SETTINGS, ports).chat(purpose);
  if (!chat) throw new Error('There is a model');
  await chat.chat(ASK);
  await expect(chat.chat(ASK)).rejects.toMatchObject({ problem: 'not_found' });
  const portico = createPortico({
    PORTICO_MODEL_URL: 'https://model.example.com/v1',
    PORTICO_MODEL: 'm',
    PORTICO_MODEL_KEY: 'k3y-of-the-model',
    PORTICO_MODEL_CALLS_PER_DAY: '9',
  });
  const text = await (await portico.api('GET', '/api/v1/model')).text();
  expect(text).not.toContain('k3y');
  expect(text).not.toContain('example.com');
  const view = JSON.parse(text) as ModelView;
  expect(view.model).toEqual({
    name: 'm',
    api: 'openai',
    embed_model: null,
    calls_per_day: 9,
    tokens_per_day: 5_000_000,
  });
  expect(view.ends_at.slice(10)).toBe('T00:00:00.000Z');
  expect(Date.parse(view.ends_at) - Date.parse(view.day)).toBe(86_400_000);
  expect(view.usage.find(one => one.purpose === purpose)).toMatchObject({
    calls: 3,
    failures: 2,
    last_problem: 'not_found',
    last_failed_at: expect.stringContaining(view.day) as string,
  });
  // A fixed problem is no longer shown.
  await model.give({ turns: [{ text: 'hi' }] });
  await chat.chat(ASK);
  const { usage } = await (await portico.api('GET', '/api/v1/model')).json<ModelView>();
  expect(usage.find(one => one.purpose === purpose)).toMatchObject({
    failures: 2,
    last_problem: null,
    last_failed_at: expect.stringContaining(view.day) as string,
  });
  const none = await createPortico().api('GET', '/api/v1/model');
  expect(await none.json()).toMatchObject({ model: null });
  const { token } = await createToken(portico, { scopes: ['tools:read'] });
  expect((await portico.api('GET', '/api/v1/model', undefined, { token })).status).toBe(403);
});
