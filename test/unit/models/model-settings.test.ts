/** The settings of a model: which belong together, and their defaults. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MODEL_SETTINGS, toModelSettings } from '../../../src/models/model-settings.ts';

const Schema = z.object(MODEL_SETTINGS);
const read = (env: Record<string, string>, allowsLoopback = false) =>
  toModelSettings(Schema.parse(env), allowsLoopback);
const URL_AND_NAME = {
  PORTICO_MODEL_URL: 'https://model.example.com/v1',
  PORTICO_MODEL: 'm',
};

describe('the settings of a model', () => {
  it('[LLM-3] [FIND-3] name none, or one behind an address', () => {
    expect(read({})).toBeUndefined();
    expect(read({ ...URL_AND_NAME, PORTICO_MODEL_KEY: '${OPENAI}' })).toEqual({
      api: 'openai',
      url: 'https://model.example.com/v1',
      name: 'm',
      key: '${OPENAI}',
      embedModel: undefined,
      timeoutMs: 60_000,
      prices: undefined,
      perDay: { calls: 2_000, tokens: 5_000_000 },
    });
  });

  it.each(['openai', 'openai-responses', 'anthropic', 'gemini', 'workers-ai'])(
    '[LLM-3] name an API, and then need no address: %s',
    api => {
      const settings = read({ PORTICO_MODEL_API: api, PORTICO_MODEL: 'm' });
      expect(settings).toMatchObject({ api, url: undefined, name: 'm' });
    },
  );

  it.each<[string, Record<string, string>, string]>([
    ['an address alone', { PORTICO_MODEL_URL: 'https://a.example.com' }, 'PORTICO_MODEL'],
    ['a model alone', { PORTICO_MODEL: 'm' }, 'PORTICO_MODEL_URL'],
    ['an API without a model', { PORTICO_MODEL_API: 'gemini' }, 'PORTICO_MODEL_API'],
    ['http', { ...URL_AND_NAME, PORTICO_MODEL_URL: 'http://a.example.com' }, 'must be https'],
    ['one price', { ...URL_AND_NAME, PORTICO_MODEL_PRICE_INPUT: '1' }, 'PORTICO_MODEL_PRICE'],
  ])('[LLM-3] are invalid with %s, and the message names them', (_what, env, problem) => {
    expect(() => read(env)).toThrow(problem);
  });

  it('[LLM-3] have prices, also of zero, and may be on loopback locally', () => {
    const prices = { PORTICO_MODEL_PRICE_INPUT: '0', PORTICO_MODEL_PRICE_OUTPUT: '2.5' };
    expect(read({ ...URL_AND_NAME, ...prices })?.prices).toEqual({ input: 0, output: 2.5 });
    const url = 'http://127.0.0.1:9/v1';
    expect(read({ ...URL_AND_NAME, PORTICO_MODEL_URL: url }, true)?.url).toBe(url);
    expect(Schema.safeParse({ PORTICO_MODEL_API: 'other' }).success).toBe(false);
  });
});
