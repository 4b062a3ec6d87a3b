/** The dialect of Messages, on the examples of its documentation (platform.claude.com: tool use, streaming, extended thinking). */
import { describe, expect, it } from 'vitest';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import { FormatError } from '../../../src/models/formats/dialect.ts';

const ANTHROPIC = dialectOf('anthropic');

const event = (data: { type: string; [member: string]: unknown }) => ({
  event: data.type,
  data: JSON.stringify(data),
});
const thinking = {
  type: 'thinking',
  thinking: 'The user wants weather.',
  signature: 'EqQBCgIYAhIM',
};
const use = {
  type: 'tool_use',
  id: 'toolu_01A09q90qw90lq917835lq9',
  name: 'get_weather',
  input: { location: 'San Francisco, CA', unit: 'celsius' },
};
const message = {
  id: 'msg_01Aq9w938a90dw8q',
  role: 'assistant',
  stop_reason: 'tool_use',
  content: [thinking, { type: 'text', text: 'I will check.' }, use],
  usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 20 },
};

describe('responses', () => {
  it('[LLM-2] calls, text, tokens, and the blocks as they came, with signatures', () => {
    const reply = ANTHROPIC.fromResponse(message);
    expect(reply).toMatchObject({
      text: 'I will check.',
      stop: 'calls',
      tokens: { input: 15, output: 20 },
      calls: [{ id: use.id, name: 'get_weather', arguments: use.input }],
    });
    const { text, calls, raw } = reply;
    const { messages } = ANTHROPIC.toRequest({
      system: 'Be brief.',
      messages: [{ role: 'assistant', text, calls, raw }],
      maxTokens: 10,
    });
    expect(messages).toEqual([{ role: 'assistant', content: message.content }]);
  });

  it.each([
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refused'],
    ['end_turn', 'end'],
  ])('[LLM-2] %s is %s', (reason, stop) => {
    const body = { content: [{ type: 'text', text: 'x' }], stop_reason: reason };
    expect(ANTHROPIC.fromResponse(body).stop).toBe(stop);
  });

  it('[LLM-2] a stream: thoughts, text, input in fragments, one of them broken', () => {
    const reader = ANTHROPIC.createReader();
    const delta = (index: number, rest: object) =>
      event({ type: 'content_block_delta', index, delta: rest });
    const start = (index: number, block: object) =>
      event({ type: 'content_block_start', index, content_block: block });
    const tool = (id: string) => ({ type: 'tool_use', id, name: 'get_weather', input: {} });
    const events = [
      event({
        type: 'message_start',
        message: { usage: { input_tokens: 472, output_tokens: 2 } },
      }),
      start(0, { type: 'thinking', thinking: '', signature: '' }),
      event({ type: 'ping' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
      delta(0, { type: 'signature_delta', signature: 'EqQB' }),
      event({ type: 'content_block_stop', index: 0 }),
      start(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'Okay' }),
      start(2, tool('toolu_1')),
      delta(2, { type: 'input_json_delta', partial_json: '' }),
      delta(2, { type: 'input_json_delta', partial_json: '{"location": "San Fra' }),
      delta(2, { type: 'input_json_delta', partial_json: 'ncisco, CA"}' }),
      start(3, tool('toolu_2')),
      delta(3, { type: 'input_json_delta', partial_json: '{"location":' }),
      start(4, tool('toolu_3')),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'tool_use' },
        usage: { output_tokens: 89 },
      }),
      event({ type: 'message_stop' }),
    ];
    expect(events.map(each => reader.read(each)).join('')).toBe('Okay');
    const reply = reader.end();
    expect(reply).toMatchObject({
      text: 'Okay',
      stop: 'calls',
      tokens: { input: 472, output: 89 },
    });
    expect(reply.calls.map(each => each.arguments)).toEqual([
      { location: 'San Francisco, CA' },
      undefined,
      {},
    ]);
    expect(reply.raw).toMatchObject({
      turn: [
        { type: 'thinking', thinking: 'Hm', signature: 'EqQB' },
        { type: 'text', text: 'Okay' },
        { input: { location: 'San Francisco, CA' } },
        { input: {} },
        { input: {} },
      ],
    });
    const broken = ANTHROPIC.createReader();
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    expect(() => broken.read(event({ type: 'error', error }))).toThrow(FormatError);
    expect(() => ANTHROPIC.createReader().end()).toThrow(FormatError);
  });
});

describe('results', () => {
  it('[LLM-2] are put into one message; a failed one has text only', () => {
    const image = { type: 'image', data: 'aWNvbg==', mimeType: 'image/png' };
    const pdf = { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: 'JVBERi0=' };
    const results = [
      { content: [{ type: 'text', text: 'ok' }, image, { type: 'resource', resource: pdf }] },
      { content: [{ type: 'text', text: 'no such city' }, image], isError: true },
      {
        content: [
          {
            type: 'resource',
            resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'A' },
          },
          { type: 'resource_link', uri: 'file:///b', name: 'b', mimeType: 'text/plain' },
          { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
        ],
      },
    ];
    const [told] = ANTHROPIC.toResults(
      results.map((result, index) => ({ id: `t${index}`, name: 'a', result })),
    );
    const note = '[image of type image/png, 8 characters of base64, not shown]';
    const base64 = (type: string, media_type: string, data: string) => ({
      type,
      source: { type: 'base64', media_type, data },
    });
    expect(told).toEqual({
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't0',
          content: [
            { type: 'text', text: 'ok' },
            base64('image', 'image/png', 'aWNvbg=='),
            base64('document', 'application/pdf', 'JVBERi0='),
          ],
        },
        {
          type: 'tool_result',
          tool_use_id: 't1',
          is_error: true,
          content: [
            { type: 'text', text: 'no such city' },
            { type: 'text', text: note },
          ],
        },
        {
          type: 'tool_result',
          tool_use_id: 't2',
          content: [
            { type: 'text', text: '[resource file:///a.txt (text/plain)]\nA' },
            { type: 'text', text: '[link to a resource: b, file:///b, text/plain]' },
            { type: 'text', text: '[audio of type audio/wav, 8 characters of base64, not shown]' },
          ],
        },
      ],
    });
  });
});

describe('a text that the API refuses', () => {
  it('[LLM-2] is not sent: nothing but white space, half of a character', () => {
    const texts = ['\n', ' ok\ud83d '].map(text => ({ type: 'text', text }));
    const [told] = ANTHROPIC.toResults([{ id: 't', name: 'a', result: { content: texts } }]);
    expect(told).toMatchObject({
      content: [{ content: [{ text: '(nothing)' }, { text: ' ok\ufffd ' }] }],
    });
  });
});

describe('strict tools', () => {
  it('[LLM-1] a request has no more than allowed; the others are exported as not strict', () => {
    const tools = Array.from({ length: 25 }, (_, index) => ({
      name: `tool_${index}`,
      inputSchema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    }));
    const { tools: exported, warnings } = ANTHROPIC.toTools(tools, { strict: true });
    expect(exported.filter(({ strict }) => strict === true)).toHaveLength(20);
    const told = warnings.filter(
      ({ detail }) => detail === 'not strict: more than 20 strict tools',
    );
    expect(told.map(({ tool }) => tool)).toEqual(tools.slice(20).map(({ name }) => name));
  });
});
