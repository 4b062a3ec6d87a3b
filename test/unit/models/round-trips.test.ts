/**
 * Conversations of three turns with parts that models require back unchanged: thoughts and their signatures, encrypted reasoning,
 * citations, tools run by the model's server, and unknown kinds. Whole and streamed, through the loop, byte by byte. The official client of
 * Anthropic judges what a stream of blocks contains.
 */
import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { runLoop } from '../../../src/agents/chat/loop.ts';
import type { Format, TurnReply, TurnRequest } from '../../../src/models/formats/dialect.ts';
import { dialectOf } from '../../../src/models/formats/dialects.ts';
import type { ChatModel } from '../../../src/models/chat-port.ts';
import { toCounted } from '../../../src/models/metered.ts';
import { readTurn } from '../../../src/models/read-turn.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { begun, createWorld, itemOf } from '../agents/scripted-chat.ts';
import {
  ANTHROPIC_TURNS,
  CHAT_TURNS,
  GEMINI_TURNS,
  RESPONSES_TURNS,
  toAnthropicStream,
  type RawTurns,
} from './raw-turns.ts';

const never = new AbortController().signal;
const attempt = { signal: never, onSign: () => {}, onHandedOn: () => {} };

/** The requests of a conversation with a model that gives these turns. */
async function converse(format: Format, turns: RawTurns, isStreamed: boolean) {
  const dialect = dialectOf(format);
  const requests: JsonObject[] = [];
  const model: ChatModel = {
    name: 'm',
    dialect,
    costOf: () => undefined,
    async chat({ signal: _signal, onText: _onText, ...request }) {
      const turn = turns[requests.length];
      // As stored between two runs.
      const stored = JSON.parse(JSON.stringify(request)) as TurnRequest;
      requests.push(dialect.toRequest(stored));
      if (!turn) throw new Error('no more turns');
      const body = new Blob([turn.stream]).stream();
      const reply: TurnReply = isStreamed
        ? await readTurn(body, dialect.createReader(), attempt, () => {})
        : dialect.fromResponse(turn.whole);
      return toCounted(reply, 1);
    },
  };
  const world = createWorld({ model, items: [itemOf('look')] });
  const state = await runLoop(begun({ format }), world.ports, never);
  const last = dialect.toRequest({ system: '', messages: state.messages, maxTokens: 1 });
  return { requests, state, last };
}

describe.each([
  ['streamed', true],
  ['whole', false],
])('%s', (_, isStreamed) => {
  it.each([
    ['openai-chat', CHAT_TURNS, 'messages'],
    ['openai-responses', RESPONSES_TURNS, 'input'],
    ['anthropic', ANTHROPIC_TURNS, 'messages'],
    ['gemini', GEMINI_TURNS, 'contents'],
  ] as const)('[LLM-3] %s: every turn is sent back unchanged', async (format, turns, member) => {
    const { requests, state, last } = await converse(format, turns, isStreamed);
    expect(state).toMatchObject({ stop: 'answered', answer: 'Done.' });
    expect(requests).toHaveLength(turns.length);
    const sent = JSON.stringify(last[member]);
    for (const [i, { back }] of turns.entries()) {
      for (const piece of back) {
        expect(sent).toContain(JSON.stringify(piece));
        // In all later requests.
        const after = requests.slice(i + 1).map(request => JSON.stringify(request[member]));
        expect(after.filter(text => !text.includes(JSON.stringify(piece)))).toEqual([]);
      }
    }
  });
});

describe('Anthropic', () => {
  it('[LLM-3] the official client reads the same blocks from a stream', async () => {
    for (const { stream, back } of ANTHROPIC_TURNS) {
      const fetch = async () =>
        new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
      const client = new Anthropic({ apiKey: 'k', maxRetries: 0, fetch });
      const messages = [{ role: 'user' as const, content: 'Go' }];
      const { content } = await client.messages
        .stream({ model: 'm', max_tokens: 10, messages })
        .finalMessage();
      expect(content).toEqual(back);
    }
  });

  it.each([
    ['streamed', true],
    ['whole', false],
  ])('[LLM-3] a paused turn continues, and is one turn with the next: %s', async (_, streams) => {
    const [first, , third] = ANTHROPIC_TURNS;
    const text = { type: 'text', text: 'I search. ' };
    const search = { type: 'server_tool_use', id: 's9', name: 'web_search', input: { query: 'a' } };
    const whole = { content: [text, search], stop_reason: 'pause_turn' };
    const paused = { whole, stream: toAnthropicStream(whole), back: [text, search] };
    const turns = [first, paused, third].filter(each => each !== undefined);
    const { requests, state, last } = await converse('anthropic', turns, streams);
    expect(state).toMatchObject({ stop: 'answered', answer: 'I search. Done.' });
    expect(requests).toHaveLength(3);
    const asked = (requests[2] ?? {})['messages'] as unknown[];
    expect(asked.at(-1)).toEqual({ role: 'assistant', content: [text, search] });
    const roles = (last['messages'] as { role: string }[]).map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect((last['messages'] as unknown[]).at(-1)).toMatchObject({
      content: [text, search, ...(third?.back ?? [])],
    });
  });

  it("[LLM-3] cut input of a tool run by the model's server does not lose the rest", () => {
    const reader = dialectOf('anthropic').createReader();
    const tell = (data: JsonObject) =>
      reader.read({ event: String(data['type']), data: JSON.stringify(data) });
    const content_block = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    tell({ type: 'content_block_start', index: 0, content_block });
    const delta = { type: 'input_json_delta', partial_json: '{"que' };
    tell({ type: 'content_block_delta', index: 0, delta });
    expect(() => reader.end()).toThrow('broke off');
  });
});
