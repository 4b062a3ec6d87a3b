/**
 * `function_call` of Chat Completions as of 2023: the message itself has one call, without an id, and its result is a `function` message.
 */
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import type { CanonicalCall } from '../../../src/models/formats/canonical-form.ts';
import { toEvent } from '../../fixtures/model-server.ts';

const OPENAI_CHAT = dialectOf('openai-chat');

const function_call = { name: 'look', arguments: '{ "path": "ä" }' };
const message = { role: 'assistant', content: null, function_call };
const completion = (reason: string, more: object = {}) => ({
  choices: [{ index: 0, message: { ...message, ...more }, finish_reason: reason }],
});
const chunks = (reason: string) => [
  { choices: [{ index: 0, delta: { role: 'assistant', content: null } }] },
  { choices: [{ index: 0, delta: { function_call: { name: 'look', arguments: '' } } }] },
  { choices: [{ index: 0, delta: { function_call: { arguments: '{ "path"' } } }] },
  { choices: [{ index: 0, delta: { function_call: { arguments: ': "ä" }' } } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: reason }] },
];
const readStream = (reason: string, count = 5) => {
  const reader = OPENAI_CHAT.createReader();
  for (const chunk of chunks(reason).slice(0, count)) {
    reader.read({ event: 'message', data: JSON.stringify(chunk) });
  }
  return reader.end();
};
const toResults = (calls: readonly CanonicalCall[]) =>
  calls.map(({ id, name }) => ({ id, name, result: { content: [{ type: 'text', text: '14' }] } }));

describe('function_call', () => {
  it.each([
    ['whole', () => OPENAI_CHAT.fromResponse(completion('function_call'))],
    ['streamed', () => readStream('function_call')],
    ['whole, forced', () => OPENAI_CHAT.fromResponse(completion('stop'))],
  ])('[LLM-2] %s is a call, and is sent back in its own form with its result', (_, read) => {
    const reply = read();
    expect(reply).toMatchObject({ stop: 'calls', calls: [{ name: 'look' }] });
    const { text, calls, raw } = reply;
    expect(calls[0]?.arguments).toEqual({ path: 'ä' });
    const { messages } = OPENAI_CHAT.toRequest({
      system: 's',
      messages: [
        { role: 'assistant', text, calls, raw: JSON.parse(JSON.stringify(raw)) as unknown },
        { role: 'tools', results: toResults(calls) },
      ],
      maxTokens: 1,
    });
    expect(messages).toEqual([
      { role: 'system', content: 's' },
      message,
      { role: 'function', name: 'look', content: '14' },
    ]);
  });

  it.each([
    ['a message', message],
    ['a message without a role', { function_call }],
    ['a completion', completion('function_call')],
  ])('[LLM-2] is found in %s', (_, body) => {
    const calls = OPENAI_CHAT.fromCalls(body);
    expect(calls).toMatchObject([{ name: 'look', arguments: { path: 'ä' } }]);
    const [told] = OPENAI_CHAT.toResults(toResults(calls));
    expect(told).toEqual({ role: 'function', name: 'look', content: '14' });
  });

  it('[LLM-2] is not made if the answer was cut', () => {
    const { calls, stop } = OPENAI_CHAT.fromResponse(completion('length'));
    expect([stop, calls[0]?.unmade, calls[0]?.arguments]).toEqual(['length', 'length', undefined]);
    expect(readStream('content_filter').calls).toMatchObject([{ unmade: 'refused' }]);
    for (let count = 0; count < 5; count += 1) {
      expect(() => readStream('function_call', count)).toThrow('broke off');
    }
  });

  it('[LLM-2] beside tool calls is the same call written twice', () => {
    const tool_calls = [{ id: 'c1', type: 'function', function: function_call }];
    const { calls } = OPENAI_CHAT.fromResponse(completion('tool_calls', { tool_calls }));
    expect(calls.map(({ id }) => id)).toEqual(['c1']);
  });

  it('[LLM-2] the official client reads the same from a stream', async () => {
    const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const text = chunks('function_call').map(chunk => toEvent({ ...head, ...chunk }));
    const fetch = async () =>
      new Response([...text, toEvent('[DONE]')].join(''), {
        headers: { 'content-type': 'text/event-stream' },
      });
    const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch });
    const messages = [{ role: 'user' as const, content: 'Go' }];
    const { choices } = await client.chat.completions
      .stream({ model: 'm', messages })
      .finalChatCompletion();
    const held: unknown = choices[0]?.message;
    expect(held).toMatchObject({ function_call });
  });
});
