/** The dialect of Chat Completions, on the examples of its documentation (platform.openai.com/docs/guides/function-calling and streaming). */
import { describe, expect, it } from 'vitest';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import { FormatError } from '../../../src/models/formats/dialect.ts';

const OPENAI_CHAT = dialectOf('openai-chat');

const WEATHER = {
  name: 'weather__get_weather',
  description: 'Get current temperature for a given location.',
  inputSchema: {
    type: 'object',
    properties: {
      location: { type: 'string', description: 'City and country e.g. Bogotá, Colombia' },
      units: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    },
    required: ['location'],
  },
};

const call = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const completion = (message: object, reason = 'stop') => ({
  id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', ...message }, finish_reason: reason, logprobs: null },
  ],
  usage: { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
});
const chunk = (delta: object, reason: string | null = null) => ({
  event: 'message',
  data: JSON.stringify({
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
  }),
});

describe('tools', () => {
  it('[LLM-1] a tool that fits is exported unchanged', () => {
    const { tools, names, warnings } = OPENAI_CHAT.toTools([WEATHER], { strict: false });
    expect(tools).toEqual([
      {
        type: 'function',
        function: {
          name: WEATHER.name,
          description: WEATHER.description,
          parameters: WEATHER.inputSchema,
        },
      },
    ]);
    expect([...names]).toEqual([[WEATHER.name, WEATHER.name]]);
    expect(warnings).toEqual([]);
  });

  it('[LLM-1] in strict mode an optional property accepts null, which is removed on the way back', () => {
    const exported = OPENAI_CHAT.toTools([WEATHER], { strict: true });
    expect(exported.tools[0]).toMatchObject({
      function: {
        strict: true,
        parameters: {
          properties: { units: { anyOf: [{ enum: ['celsius', 'fahrenheit'] }, { type: 'null' }] } },
          required: ['location', 'units'],
          additionalProperties: false,
        },
      },
    });
    expect(exported.warnings.map(({ path }) => path).toSorted()).toEqual([
      '/inputSchema/additionalProperties',
      '/inputSchema/properties/units',
      '/inputSchema/required',
    ]);
    const given = { location: 'Bogotá, Colombia', units: null };
    expect(exported.toArguments(WEATHER.name, given)).toEqual({ location: 'Bogotá, Colombia' });
  });
});

describe('responses', () => {
  it('[LLM-2] text, tokens and the stop reason', () => {
    const reply = OPENAI_CHAT.fromResponse(completion({ content: 'Hello!' }));
    expect(reply).toMatchObject({ text: 'Hello!', calls: [], stop: 'end' });
    expect(reply.tokens).toEqual({ input: 19, output: 10 });
    expect(OPENAI_CHAT.fromResponse(completion({ content: 'Hel' }, 'length')).stop).toBe('length');
    const refused = completion({ content: null, refusal: 'I will not.' });
    expect(OPENAI_CHAT.fromResponse(refused)).toMatchObject({
      stop: 'refused',
      text: 'I will not.',
    });
  });

  it('[LLM-2] many calls, one of them with broken JSON, one with none', () => {
    const tool_calls = [
      call('call_1', 'get_weather', '{"location":"Paris, France"}'),
      call('call_2', 'get_weather', '{"location":"Bogot'),
      call('call_3', 'list', ''),
      call('call_4', 'list', '["a"]'),
    ];
    const { calls, stop } = OPENAI_CHAT.fromResponse(
      completion({ content: null, tool_calls }, 'tool_calls'),
    );
    expect(stop).toBe('calls');
    expect(calls.map(({ id }) => id)).toEqual(['call_1', 'call_2', 'call_3', 'call_4']);
    expect(calls.map(each => each.arguments)).toEqual([
      { location: 'Paris, France' },
      undefined,
      {},
      undefined,
    ]);
    expect(calls[1]?.problem).toContain('not valid JSON');
    expect(calls[3]?.problem).toContain('no JSON object');
  });

  it.each([undefined, {}, { choices: [] }, { choices: [{ message: { content: 7 } }] }, '[]'])(
    '[LLM-2] a body that is no completion is refused: %j',
    body => {
      expect(() => OPENAI_CHAT.fromResponse(body)).toThrow(FormatError);
    },
  );
});

describe('streams', () => {
  it('[LLM-2] calls in interleaved fragments, with text before', () => {
    const reader = OPENAI_CHAT.createReader();
    const fragment = (index: number, rest: object) => chunk({ tool_calls: [{ index, ...rest }] });
    const events = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Let me ' }),
      chunk({ content: 'see' }),
      fragment(0, { id: 'call_a', type: 'function', function: { name: 'get', arguments: '' } }),
      fragment(0, { function: { arguments: '{"q":"\\u00' } }),
      fragment(1, { id: 'call_b', type: 'function', function: { name: 'list', arguments: '{}' } }),
      fragment(0, { function: { arguments: 'e9"}' } }),
      chunk({}, 'tool_calls'),
      {
        event: 'message',
        data: '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}',
      },
      { event: 'message', data: '[DONE]' },
    ];
    expect(events.map(event => reader.read(event)).join('')).toBe('Let me see');
    const reply = reader.end();
    expect(reply).toMatchObject({
      text: 'Let me see',
      stop: 'calls',
      tokens: { input: 3, output: 4 },
    });
    expect(reply.calls).toEqual([
      { id: 'call_a', name: 'get', arguments: { q: 'é' } },
      { id: 'call_b', name: 'list', arguments: {} },
    ]);
  });

  it('[LLM-2] a stream that breaks off, or reports a failure, is refused', () => {
    const cut = OPENAI_CHAT.createReader();
    cut.read(chunk({ content: 'Hel' }));
    expect(() => cut.end()).toThrow(FormatError);
    const data = '{"error":{"message":"overloaded"}}';
    expect(() => OPENAI_CHAT.createReader().read({ event: 'message', data })).toThrow(FormatError);
  });
});

describe('calls and results', () => {
  const tool_calls = [call('call_1', 'get', '{"a":1}')];

  it.each([
    ['a completion', completion({ content: null, tool_calls }, 'tool_calls')],
    ['its message', { role: 'assistant', content: null, tool_calls }],
    ['a list of calls', tool_calls],
  ])('[LLM-2] calls are found in %s', (_, body) => {
    expect(OPENAI_CHAT.fromCalls(body)).toEqual([
      { id: 'call_1', name: 'get', arguments: { a: 1 } },
    ]);
  });

  it('[LLM-2] results are tool messages; images follow in a message of their own', () => {
    const image = { type: 'image', data: 'aWNvbg==', mimeType: 'image/png' };
    const messages = OPENAI_CHAT.toResults([
      { id: 'call_1', name: 'get', result: { content: [{ type: 'text', text: '14 °C' }, image] } },
      {
        id: 'call_2',
        name: 'put',
        result: { content: [{ type: 'text', text: 'x is missing' }], isError: true },
      },
      { id: 'call_3', name: 'sum', result: { content: [], structuredContent: { sum: 3 } } },
    ]);
    expect(messages).toEqual([
      {
        role: 'tool',
        tool_call_id: 'call_1',
        content: '14 °C\n[image: see the message after the results]',
      },
      { role: 'tool', tool_call_id: 'call_2', content: 'The tool failed: x is missing' },
      { role: 'tool', tool_call_id: 'call_3', content: '{"sum":3}' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Image in the result of get (call_1):' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aWNvbg==' } },
        ],
      },
    ]);
  });

  it('[LLM-2] a conversation continues with the turns as they came, except what could not be read', () => {
    const written = [...tool_calls, call('call_2', 'get', '{"broken')];
    const reply = OPENAI_CHAT.fromResponse(completion({ content: null, tool_calls: written }));
    const request = OPENAI_CHAT.toRequest({
      system: 'Be brief.',
      messages: [
        { role: 'user', text: 'Go' },
        { role: 'assistant', text: reply.text, calls: reply.calls, raw: reply.raw },
        { role: 'tools', results: [{ id: 'call_1', name: 'get', result: { content: [] } }] },
      ],
      tools: OPENAI_CHAT.toTools([WEATHER], { strict: false }),
      maxTokens: 100,
    });
    expect(request).toMatchObject({
      max_completion_tokens: 100,
      tools: [{ type: 'function' }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [tool_calls[0], call('call_2', 'get', '{}')],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'The tool returned nothing.' },
      ],
    });
  });
});
