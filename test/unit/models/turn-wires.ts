/**
 * Turns of models in wire format, with any stop reason: those of the fake models with the reason replaced. What each reason means for calls
 * is written here by hand, from the documentation of each API.
 */
import type { StopReason } from '../../../src/agents/chat/chat-state.ts';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import type { Dialect, Format } from '../../../src/models/formats/dialect.ts';
import { anthropicApi } from '../../fixtures/model-anthropic-api.ts';
import { geminiApi } from '../../fixtures/model-gemini-api.ts';
import { openAiApi } from '../../fixtures/model-openai-api.ts';
import type { Turn } from '../../fixtures/model-script.ts';
import { toEvent, type ModelApi } from '../../fixtures/model-server.ts';

/** `calls`: the calls of the turn are made. Any other: none is made, and the run stops for this reason. */
export type Meaning = 'calls' | Extract<StopReason, 'length' | 'refused' | 'interrupted'>;

export interface TurnWire {
  format: Format;
  dialect: Dialect;
  /** Every reason that the API documents, some that it does not, and none at all. */
  reasons: ReadonlyMap<string | null, Meaning>;
  /** Events of a stream; the turn is complete after the event at `last`. */
  toStream(turn: Turn, reason: string | null): { events: string[]; last: number };
  toWhole(turn: Turn, reason: string | null): object;
}

const KEYS = { 'anthropic-version': '2023-06-01' };
const ask = { role: 'user', content: 'Go' };

function routeOf(api: ModelApi, path: string, body: object) {
  const request = new Request(`https://model.example.com${path}`, { headers: KEYS });
  const [pathname = ''] = path.split('?');
  const route = api.routeOf(pathname, body, request);
  if (!route || !('toEvents' in route)) throw new Error(`no route: ${JSON.stringify(route)}`);
  return route;
}

type Json = Record<string, unknown>;
const dataOf = (event: string): Json =>
  JSON.parse(event.slice(event.indexOf('data: ') + 6)) as Json;
const isData = (event: string) => !event.includes('data: [DONE]');

/** The same events; `change` is applied to the last event for which it returns something. */
function changeLast(events: readonly string[], change: (data: Json) => Json | undefined) {
  const last = events.findLastIndex(event => isData(event) && change(dataOf(event)) !== undefined);
  const event = events[last] ?? '';
  const [name] = /^event: .*\n/.exec(event) ?? [''];
  const changed = `${name}${toEvent(change(dataOf(event)))}`;
  return { events: events.with(last, changed), last };
}

const none: readonly [null | string, Meaning][] = [
  [null, 'interrupted'],
  ['', 'interrupted'],
  ['a_reason_of_tomorrow', 'interrupted'],
  ['constructor', 'interrupted'],
];

const chat = routeOf(openAiApi, '/v1/chat/completions', {
  model: 'm',
  messages: [ask],
  stream: true,
  stream_options: { include_usage: true },
});
const withFinish = (reason: string | null) => (data: Json) => {
  const [choice] = data['choices'] as Json[];
  return choice && { ...data, choices: [{ ...choice, finish_reason: reason }] };
};
const CHAT: TurnWire = {
  format: 'openai-chat',
  dialect: dialectOf('openai-chat'),
  reasons: new Map<string | null, Meaning>([
    ['stop', 'calls'],
    ['length', 'length'],
    ['tool_calls', 'calls'],
    ['content_filter', 'refused'],
    ['function_call', 'calls'],
    ...none,
  ]),
  toStream: (turn, reason) => changeLast(chat.toEvents(turn), withFinish(reason)),
  toWhole: (turn, reason) => withFinish(reason)(chat.toWhole(turn) as Json) ?? {},
};

const responses = routeOf(openAiApi, '/v1/responses', { model: 'm', input: [ask], stream: true });
/** A status, and for an incomplete response its reason: `incomplete/max_output_tokens`. */
const withStatus = (data: Json, reason: string | null): Json => {
  const [status, why] = (reason ?? '').split('/');
  return {
    ...data,
    status: reason === null ? null : status,
    incomplete_details: why === undefined ? null : { reason: why },
  };
};
const RESPONSES: TurnWire = {
  format: 'openai-responses',
  dialect: dialectOf('openai-responses'),
  reasons: new Map<string | null, Meaning>([
    ['completed', 'calls'],
    ['incomplete/max_output_tokens', 'length'],
    ['incomplete/content_filter', 'refused'],
    ['incomplete/max_messages', 'interrupted'],
    ['incomplete/steered', 'interrupted'],
    ['incomplete/a_reason_of_tomorrow', 'interrupted'],
    ['incomplete', 'interrupted'],
  ]),
  toStream(turn, reason) {
    const { events, last } = changeLast(responses.toEvents(turn), data =>
      'response' in data
        ? { ...data, response: withStatus(data['response'] as Json, reason) }
        : undefined,
    );
    const [status] = (reason ?? '').split('/');
    const named = (events[last] ?? '').replaceAll('response.completed', `response.${status}`);
    return { events: events.with(last, named), last };
  },
  toWhole: (turn, reason) => withStatus(responses.toWhole(turn) as Json, reason),
};

const anthropic = routeOf(anthropicApi, '/v1/messages', {
  model: 'm',
  max_tokens: 10,
  messages: [ask],
  stream: true,
});
const ANTHROPIC: TurnWire = {
  format: 'anthropic',
  dialect: dialectOf('anthropic'),
  reasons: new Map<string | null, Meaning>([
    ['end_turn', 'interrupted'],
    ['max_tokens', 'length'],
    ['stop_sequence', 'interrupted'],
    ['tool_use', 'calls'],
    ['pause_turn', 'interrupted'],
    ['refusal', 'refused'],
    ['model_context_window_exceeded', 'length'],
    ['compaction', 'interrupted'],
    ...none,
  ]),
  toStream(turn, reason) {
    const { events } = changeLast(anthropic.toEvents(turn), data =>
      data['type'] === 'message_delta'
        ? { ...data, delta: { stop_reason: reason, stop_sequence: null } }
        : undefined,
    );
    return { events, last: events.length - 1 };
  },
  toWhole: (turn, reason) => ({ ...anthropic.toWhole(turn), stop_reason: reason }),
};

const gemini = routeOf(geminiApi, '/v1beta/models/gemini-3-x:streamGenerateContent?alt=sse', {
  contents: [{ role: 'user', parts: [{ text: 'Go' }] }],
});
const FILTERS = [
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'IMAGE_OTHER',
  'NO_IMAGE',
];
const withFinishReason = (reason: string | null) => (data: Json) => {
  const [candidate] = data['candidates'] as Json[];
  return candidate && { ...data, candidates: [{ ...candidate, finishReason: reason }] };
};
const GEMINI: TurnWire = {
  format: 'gemini',
  dialect: dialectOf('gemini'),
  reasons: new Map<string | null, Meaning>([
    ['STOP', 'calls'],
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ...FILTERS.map((name): [string, Meaning] => [name, 'refused']),
    ['OTHER', 'interrupted'],
    ['FINISH_REASON_UNSPECIFIED', 'interrupted'],
    ['MALFORMED_RESPONSE', 'interrupted'],
    ...none,
  ]),
  toStream: (turn, reason) => changeLast(gemini.toEvents(turn), withFinishReason(reason)),
  toWhole: (turn, reason) => withFinishReason(reason)(gemini.toWhole(turn) as Json) ?? {},
};

export const TURN_WIRES: readonly TurnWire[] = [CHAT, RESPONSES, ANTHROPIC, GEMINI];
