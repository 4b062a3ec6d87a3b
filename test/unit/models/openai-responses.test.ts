/** The dialect of Responses, on the examples of its documentation (platform.openai.com/docs/guides/function-calling, api-reference/responses). */
import { describe, expect, it } from 'vitest';
import { FormatError } from '../../../src/models/formats/dialect.ts';
import { dialectOf } from '../../../src/models/formats/dialects.ts';

const OPENAI_RESPONSES = dialectOf('openai-responses');

const call = {
  type: 'function_call',
  id: 'fc_67ca09c6bedc8190a7abfec07b1a1332096610f474011cc0',
  call_id: 'call_unDRGFNOv0iZqaDn4sZfNXS6',
  name: 'get_weather',
  arguments: '{"location":"Paris, France"}',
  status: 'completed',
};
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAA' };
const said = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const responseOf = (output: object[], more: object = {}) => ({
  object: 'response',
  status: 'completed',
  output,
  usage: { input_tokens: 36, output_tokens: 87, total_tokens: 123 },
  ...more,
});
const event = (data: { type: string; [member: string]: unknown }) => ({
  event: data.type,
  data: JSON.stringify(data),
});

describe('responses', () => {
  it('[LLM-2] items are sent back as they came, except stored reasoning and broken arguments', () => {
    const broken = { ...call, call_id: 'c2', arguments: '{"loc' };
    const lost = { type: 'reasoning', id: 'rs_2', summary: [] };
    const reply = OPENAI_RESPONSES.fromResponse(
      responseOf([reasoning, lost, said('Hi'), call, broken]),
    );
    expect(reply).toMatchObject({ text: 'Hi', stop: 'calls', tokens: { input: 36, output: 87 } });
    expect(reply.calls.map(each => each.arguments)).toEqual([
      { location: 'Paris, France' },
      undefined,
    ]);
    const { text, calls, raw } = reply;
    const request = OPENAI_RESPONSES.toRequest({
      system: 'Be brief.',
      messages: [
        { role: 'assistant', text, calls, raw },
        {
          role: 'tools',
          results: [{ id: call.call_id, name: 'get_weather', result: { content: [] } }],
        },
      ],
      maxTokens: 50,
    });
    expect(request).toEqual({
      instructions: 'Be brief.',
      store: false,
      max_output_tokens: 50,
      input: [
        reasoning,
        said('Hi'),
        call,
        { ...broken, arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: call.call_id,
          output: 'The tool returned nothing.',
        },
      ],
    });
  });

  it('[LLM-2] the stop reason', () => {
    const cut = (reason: string) =>
      responseOf([said('a')], { status: 'incomplete', incomplete_details: { reason } });
    expect(OPENAI_RESPONSES.fromResponse(responseOf([said('a')])).stop).toBe('end');
    expect(OPENAI_RESPONSES.fromResponse(cut('max_output_tokens')).stop).toBe('length');
    expect(OPENAI_RESPONSES.fromResponse(cut('content_filter')).stop).toBe('refused');
    const failed = responseOf([], { status: 'failed' });
    expect(() => OPENAI_RESPONSES.fromResponse(failed)).toThrow(FormatError);
  });

  it.each([
    ['that the last event has', responseOf([said('Let me see'), call])],
    ['that came before', responseOf([])],
  ])('[LLM-2] a stream of items %s', (_, response) => {
    const reader = OPENAI_RESPONSES.createReader();
    const text = (delta: string) =>
      event({ type: 'response.output_text.delta', output_index: 0, delta });
    const given = (delta: string) =>
      event({ type: 'response.function_call_arguments.delta', output_index: 1, delta });
    const added = (index: number, item: object, state = 'added') =>
      event({ type: `response.output_item.${state}`, output_index: index, item });
    const events = [
      event({
        type: 'response.created',
        response: responseOf([], { status: 'in_progress' }),
      }),
      added(0, { ...said(''), content: [] }),
      text('Let me '),
      text('see'),
      added(0, said('Let me see'), 'done'),
      added(1, { ...call, arguments: '' }),
      given('{"location":"Par'),
      given('is, France"}'),
      event({ type: 'response.completed', response }),
    ];
    expect(events.map(each => reader.read(each)).join('')).toBe('Let me see');
    const reply = reader.end();
    expect(reply).toMatchObject({ text: 'Let me see', stop: 'calls' });
    expect(reply.calls).toEqual([
      { id: call.call_id, name: 'get_weather', arguments: { location: 'Paris, France' } },
    ]);
  });

  it('[LLM-2] a stream has at most 512 items, each of which may change', () => {
    const reader = OPENAI_RESPONSES.createReader();
    const read = (index: number, state: string) =>
      reader.read(
        event({ type: `response.output_item.${state}`, output_index: index, item: said('') }),
      );
    for (let index = 0; index < 512; index += 1) read(index, 'added');
    expect(() => read(511, 'done')).not.toThrow();
    expect(() => read(512, 'added')).toThrow(FormatError);
  });

  it('[LLM-2] a stream that fails or breaks off is refused', () => {
    const failed = event({ type: 'response.failed', response: {} });
    expect(() => OPENAI_RESPONSES.createReader().read(failed)).toThrow(FormatError);
    expect(() => OPENAI_RESPONSES.createReader().end()).toThrow(FormatError);
  });
});
