/**
 * Three turns of each API, whole and as a stream, with the parts that must be sent back as they came. Made after the documentation of each.
 */
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { toEvent } from '../../fixtures/model-server.ts';

export interface RawTurn {
  whole: JsonObject;
  stream: string;
  /** The parts to send back, as they are in a request. */
  back: readonly unknown[];
}
export type RawTurns = readonly RawTurn[];

const unknown = { type: 'hologram', z: 1, a: { deep: [null, 1.5, 'é'] }, type_of: '😀' };

// Anthropic: blocks.

/** Members that arrive in deltas of their own, with the delta's type. */
const TEXTS: readonly [string, string, string][] = [
  ['text', 'text_delta', 'text'],
  ['thinking', 'thinking_delta', 'thinking'],
  ['thinking', 'signature_delta', 'signature'],
];

export function toAnthropicStream({ content, stop_reason }: JsonObject): string {
  const events: JsonObject[] = [{ type: 'message_start', message: MESSAGE }];
  for (const [index, block] of (content as JsonObject[]).entries()) {
    const deltas: JsonObject[] = [];
    const start = { ...block };
    for (const [kind, type, member] of TEXTS) {
      if (block['type'] !== kind) continue;
      start[member] = '';
      const text = String(block[member]);
      const cut = member === 'signature' ? 0 : 3;
      if (cut > 0) deltas.push({ type, [member]: text.slice(0, cut) });
      deltas.push({ type, [member]: text.slice(cut) });
    }
    if (Array.isArray(block['citations'])) {
      start['citations'] = [];
      for (const citation of block['citations']) deltas.push({ type: 'citations_delta', citation });
    }
    if ('input' in block) {
      start['input'] = {};
      const json = JSON.stringify(block['input']);
      for (const partial_json of ['', json.slice(0, 4), json.slice(4)]) {
        deltas.push({ type: 'input_json_delta', partial_json });
      }
    }
    events.push({ type: 'content_block_start', index, content_block: start });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  }
  const delta = { stop_reason, stop_sequence: null };
  events.push({ type: 'message_delta', delta, usage: { output_tokens: 9 } });
  events.push({ type: 'message_stop' });
  return events.map(event => toEvent(event, String(event['type']))).join('');
}

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const citation = {
  type: 'web_search_result_location',
  cited_text: 'It rains',
  encrypted_index: 'Eo8B==',
  title: 'Rain',
  url: 'https://example.com/rain',
};
const anthropicTurn = (content: JsonObject[], stop_reason: string): RawTurn => {
  const whole = { content, stop_reason };
  return { whole, stream: toAnthropicStream(whole), back: content };
};
export const ANTHROPIC_TURNS: RawTurns = [
  anthropicTurn(
    [
      { type: 'thinking', thinking: 'Let me see…', signature: 'EqQBCgIYAhIM1gbc' },
      { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rain é' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [{ type: 'web_search_result', url: 'https://example.com/rain', page_age: null }],
      },
      { type: 'text', text: 'It rains.', citations: [citation, { ...citation, title: 'More' }] },
      unknown,
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { z: 1, a: [] } },
    ],
    'tool_use',
  ),
  anthropicTurn(
    [
      { type: 'thinking', thinking: 'Once more', signature: 'ErUBsecond' },
      { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
    ],
    'tool_use',
  ),
  anthropicTurn([{ type: 'text', text: 'Done.' }], 'end_turn'),
];

// Gemini: parts.

const geminiTurn = (parts: JsonObject[]): RawTurn => {
  const one = (each: readonly JsonObject[], more: object) => ({
    candidates: [{ content: { role: 'model', parts: each }, index: 0, ...more }],
  });
  const events = parts.map((part, i) =>
    toEvent(one([part], i === parts.length - 1 ? { finishReason: 'STOP' } : {})),
  );
  return { whole: one(parts, { finishReason: 'STOP' }), stream: events.join(''), back: parts };
};
export const GEMINI_TURNS: RawTurns = [
  geminiTurn([
    { thoughtSignature: 'CpcBAdHtim8', text: 'Hm.', thought: true },
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    { hologram: unknown },
    {
      thoughtSignature: 'CsECfirst==',
      functionCall: { args: { z: 1, a: [] }, name: 'look', id: 'f1', hint: null },
    },
    { functionCall: { id: 'f2', name: 'look', args: {} } },
  ]),
  geminiTurn([{ functionCall: { id: 'f3', name: 'look' }, thoughtSignature: 'second' }]),
  geminiTurn([{ text: 'Done.' }, { text: '', thoughtSignature: 'last' }]),
];

// Responses: items.

const responsesTurn = (output: JsonObject[]): RawTurn => {
  const response = { id: 'resp_1', object: 'response', status: 'completed', output };
  const events = output.flatMap((item, output_index) => [
    toEvent({ type: 'response.output_item.added', output_index, item: { ...item, content: [] } }),
    toEvent({ type: 'response.output_item.done', output_index, item }),
  ]);
  const stream = [...events, toEvent({ type: 'response.completed', response })].join('');
  return { whole: response, stream, back: output };
};
const said = (text: string, annotations: object[] = []) => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', annotations, logprobs: [], text }],
});
export const RESPONSES_TURNS: RawTurns = [
  responsesTurn([
    {
      id: 'rs_1',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm' }],
      encrypted_content: 'gAAAAABo==',
    },
    { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search' } },
    said('It rains.', [{ type: 'url_citation', url: 'https://example.com', start_index: 0 }]),
    unknown,
    {
      arguments: '{ "z": 1.0, "a": [] }',
      call_id: 'call_1',
      type: 'function_call',
      id: 'fc_1',
      name: 'look',
      status: 'completed',
    },
  ]),
  responsesTurn([
    { id: 'rs_2', type: 'reasoning', summary: [], encrypted_content: 'second' },
    {
      id: 'fc_2',
      type: 'function_call',
      status: 'completed',
      name: 'look',
      call_id: 'call_2',
      arguments: '{}',
    },
  ]),
  responsesTurn([said('Done.')]),
];

// Chat Completions: what compatible servers add to OpenAI's documented members.

interface ChatCall extends JsonObject {
  id: string;
  function: { name: string; arguments: string };
}
interface ChatMessage extends JsonObject {
  content?: string;
  reasoning_content?: string;
  tool_calls?: ChatCall[];
}

function chatTurn(message: ChatMessage, back: readonly unknown[]): RawTurn {
  const {
    content = '',
    reasoning_content: thought = '',
    tool_calls: calls = [],
    ...more
  } = message;
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const deltas: JsonObject[] = [
    { role: 'assistant', content: '', reasoning_content: null },
    { reasoning_content: thought.slice(0, 2) },
    { reasoning_content: thought.slice(2) },
    more,
    { content },
    ...calls.flatMap(({ function: { name, arguments: text }, ...call }, index) => [
      { tool_calls: [{ index, ...call, function: { name, arguments: '' } }] },
      { tool_calls: [{ index, function: { arguments: text.slice(0, 3) } }] },
      { tool_calls: [{ index, function: { arguments: text.slice(3) } }] },
    ]),
  ];
  const chunks = deltas.map(delta => toEvent({ choices: [{ index: 0, delta }] }));
  const last = toEvent({ choices: [{ index: 0, delta: {}, finish_reason }] });
  const whole = { choices: [{ message: { role: 'assistant', ...message }, finish_reason }] };
  return { whole, stream: [...chunks, last, toEvent('[DONE]')].join(''), back };
}
const signed = (id: string, text: string, signature: string): ChatCall => ({
  extra_content: { google: { thought_signature: signature } },
  id,
  type: 'function',
  function: { name: 'look', arguments: text },
});
const first = signed('call_1', '{ "z": 1.0, "a": [] }', 'CsECfirst==');
const second = signed('call_2', '{}', 'second');
const details = [{ type: 'reasoning.encrypted', data: 'abc==', index: 0 }];
export const CHAT_TURNS: RawTurns = [
  chatTurn(
    {
      content: 'I look.',
      reasoning_content: 'Hm, let me see…',
      reasoning_details: details,
      tool_calls: [first],
    },
    ['I look.', 'Hm, let me see…', details, first.function, first['extra_content']],
  ),
  chatTurn({ reasoning_content: 'Once more', tool_calls: [second] }, [
    'Once more',
    second.function,
    second['extra_content'],
  ]),
  chatTurn({ content: 'Done.', extra_content: { google: { thought_signature: 'last' } } }, [
    'Done.',
    { google: { thought_signature: 'last' } },
  ]),
];
