/** The dialect of Gemini, on the examples of its documentation (ai.google.dev: function calling, thought signatures). */
import { describe, expect, it } from 'vitest';
import { FormatError } from '../../../src/models/formats/dialect.ts';
import { dialectOf } from '../../../src/models/formats/dialects.ts';

const GEMINI = dialectOf('gemini');

const functionCall = { name: 'get_temperature', args: { location: 'London' } };
const signed = { functionCall, thoughtSignature: 'CpcBAdHtim8' };
const second = { functionCall: { id: 'f2', name: 'get_temperature', args: { location: 'Paris' } } };
const responseOf = (parts: object[], finishReason?: string) => ({
  candidates: [
    { content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
  usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 3, thoughtsTokenCount: 4 },
});
const event = (data: object) => ({ event: 'message', data: JSON.stringify(data) });
const thought = { text: 'Hm.', thought: true };

describe('responses', () => {
  it('[LLM-2] parallel calls, with ids and without; parts are sent back as they came', () => {
    const reply = GEMINI.fromResponse(responseOf([thought, signed, second], 'STOP'));
    expect(reply).toMatchObject({ text: '', stop: 'calls', tokens: { input: 8, output: 7 } });
    expect(reply.calls.map(({ name, arguments: given }) => [name, given])).toEqual([
      ['get_temperature', { location: 'London' }],
      ['get_temperature', { location: 'Paris' }],
    ]);
    expect(reply.calls[1]?.id).toBe('f2');
    const { text, calls, raw } = reply;
    const result = { content: [{ type: 'text', text: '15' }], structuredContent: { degrees: 15 } };
    const failed = { content: [{ type: 'text', text: 'unknown city' }], isError: true };
    const { contents } = GEMINI.toRequest({
      system: '',
      messages: [
        { role: 'user', text: 'Where is it warm?' },
        { role: 'assistant', text, calls, raw: JSON.parse(JSON.stringify(raw)) as unknown },
        {
          role: 'tools',
          results: calls.map(({ id, name }, index) => ({
            id,
            name,
            result: index === 0 ? { ...result, content: [] } : failed,
          })),
        },
      ],
      maxTokens: 10,
    });
    const name = 'get_temperature';
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'Where is it warm?' }] },
      { role: 'model', parts: [thought, signed, second] },
      {
        role: 'user',
        parts: [
          { functionResponse: { name, response: { output: { degrees: 15 } } } },
          { functionResponse: { id: 'f2', name, response: { error: 'unknown city' } } },
        ],
      },
    ]);
  });

  it('[LLM-2] a turn of another model gets the documented dummy signature on its first call', () => {
    const calls = ['1', '2'].map(id => ({ id, name: 'a', arguments: {} }));
    const raw = { format: 'anthropic', turn: [{ type: 'text', text: 'x' }] };
    const messages = [{ role: 'assistant' as const, text: 'x', calls, raw }];
    const { contents } = GEMINI.toRequest({ system: '', messages, maxTokens: 1 });
    expect(contents).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'x' },
          {
            functionCall: { id: '1', name: 'a', args: {} },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          { functionCall: { id: '2', name: 'a', args: {} } },
        ],
      },
    ]);
  });

  it('[LLM-2] the stop reason', () => {
    expect(GEMINI.fromResponse(responseOf([{ text: 'a' }], 'STOP')).stop).toBe('end');
    expect(GEMINI.fromResponse(responseOf([], 'MAX_TOKENS')).stop).toBe('length');
    expect(GEMINI.fromResponse(responseOf([], 'SAFETY')).stop).toBe('refused');
    expect(GEMINI.fromResponse({ promptFeedback: { blockReason: 'OTHER' } }).stop).toBe('refused');
    expect(() => GEMINI.fromResponse({ candidates: [] })).toThrow(FormatError);
  });

  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])(
    '[LLM-2] %s reports the problem, and makes no call',
    reason => {
      const body = responseOf([signed], reason);
      const [candidate] = body.candidates;
      Object.assign(candidate ?? {}, { finishMessage: 'Malformed function call: get(\n1' });
      const reader = GEMINI.createReader();
      reader.read(event(body));
      for (const reply of [GEMINI.fromResponse(body), reader.end()]) {
        expect(reply).toMatchObject({ stop: 'malformed', calls: [{ unmade: 'interrupted' }] });
        expect(reply.problem).toContain('Malformed function call: get( 1');
        expect(reply.raw).toBeUndefined();
      }
      expect(() => GEMINI.fromCalls(body)).toThrow(/Malformed function call: get\( 1.*ask again/);
    },
  );

  it('[LLM-2] a list of calls keeps those without arguments; what has no calls in it is refused', () => {
    const calls = [{ name: 'now' }, functionCall, { id: 'f3', name: 'now' }];
    expect(GEMINI.fromCalls(calls).map(call => [call.name, call.arguments])).toEqual([
      ['now', {}],
      ['get_temperature', { location: 'London' }],
      ['now', {}],
    ]);
    expect(GEMINI.fromCalls([{ text: 'Hm.' }, second])).toHaveLength(1);
    expect(GEMINI.fromCalls({ role: 'model' })).toEqual([]);
    expect(GEMINI.fromCalls({ promptFeedback: { blockReason: 'SAFETY' } })).toEqual([]);
    for (const body of [{}, functionCall, { choices: [] }, { promptFeedback: {} }]) {
      expect(() => GEMINI.fromCalls(body)).toThrow(FormatError);
    }
  });

  it('[LLM-2] a stream keeps each part, also an empty one with a signature', () => {
    const reader = GEMINI.createReader();
    const last = { text: '', thoughtSignature: 'AAAA' };
    const events = [
      responseOf([{ text: 'It ' }]),
      responseOf([{ text: 'rains' }, signed]),
      responseOf([last], 'STOP'),
    ];
    expect(events.map(each => reader.read(event(each))).join('')).toBe('It rains');
    expect(reader.end()).toMatchObject({
      text: 'It rains',
      stop: 'calls',
      raw: { turn: [{ text: 'It ' }, { text: 'rains' }, signed, last] },
    });
    const cut = GEMINI.createReader();
    cut.read(event(responseOf([{ text: 'It ' }])));
    expect(() => cut.end()).toThrow(FormatError);
    expect(() => cut.read(event({ error: { code: 503 } }))).toThrow(FormatError);
  });
});
