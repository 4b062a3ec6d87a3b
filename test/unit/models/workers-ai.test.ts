/** Answers of the platform's own models that have nothing in them. */
import { expect, it } from 'vitest';
import { createWorkersAi } from '../../../src/models/workers-ai.ts';

const ask = (answer: unknown) =>
  createWorkersAi({ ai: { run: async () => answer }, model: 'm' }).chat(
    { system: '', messages: [{ role: 'user', text: 'hi' }], maxTokens: 100 },
    { signal: new AbortController().signal, onSign() {}, onHandedOn() {} },
  );

it.each([{}, { response: null }, { response: null, tool_calls: [] }, { request_id: 'r' }])(
  '[LLM-1] %j is no answer, so that the model is asked again',
  async answer => {
    await expect(ask(answer)).rejects.toMatchObject({ problem: 'nonsense' });
  },
);

it('[LLM-1] one that used all its tokens before its text is cut off, and is not asked for again', async () => {
  const usage = { prompt_tokens: 5, completion_tokens: 100 };
  expect(await ask({ response: null, usage })).toMatchObject({ text: '', stop: 'length' });
});

it('[LLM-1] an empty text is one, and so are calls without a text', async () => {
  expect(await ask({ response: '' })).toMatchObject({ text: '', stop: 'end' });
  const calls = [{ name: 'echo', arguments: {} }];
  expect(await ask({ response: null, tool_calls: calls })).toMatchObject({ stop: 'calls' });
});
