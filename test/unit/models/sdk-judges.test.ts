/**
 * The official clients of OpenAI, Anthropic and Google as judges: they read the same streams, and what they hold for a finished turn with
 * calls is what is made of it here. Where one of them finds no finished turn, or one that ended for another reason, no call is made.
 */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI, type GenerateContentResponse } from '@google/genai';
import OpenAI from 'openai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BrokenOff, type Format } from '../../../src/models/formats/dialect.ts';
import { SseParser } from '../../../src/http/sse-events.ts';
import { createRandom, SEED } from '../seeded.ts';
import { TURN_WIRES, type TurnWire } from './turn-wires.ts';

/** What a client holds of a turn: how it says that it ended, and its calls. */
interface Held {
  reason: string | undefined;
  calls: { name: string; given: unknown }[];
}

const streamOf = (text: string) => async () =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } });
const common = { apiKey: 'k', maxRetries: 0 };
const messages = [{ role: 'user' as const, content: 'Go' }];
/** As its users do: no text is no arguments. */
const parse = (text: string): unknown => (text === '' ? {} : JSON.parse(text));

const JUDGES: Record<Format, (text: string) => Promise<Held>> = {
  async 'openai-chat'(text) {
    const client = new OpenAI({ ...common, fetch: streamOf(text) });
    const { choices } = await client.chat.completions
      .stream({ model: 'm', messages })
      .finalChatCompletion();
    const calls = (choices[0]?.message.tool_calls ?? []).flatMap(call =>
      call.type === 'function'
        ? [{ name: call.function.name, given: parse(call.function.arguments) }]
        : [],
    );
    return { reason: choices[0]?.finish_reason, calls };
  },
  async 'openai-responses'(text) {
    const client = new OpenAI({ ...common, fetch: streamOf(text) });
    const { status, output } = await client.responses
      .stream({ model: 'm', input: 'Go' })
      .finalResponse();
    const calls = output.flatMap(item =>
      item.type === 'function_call' ? [{ name: item.name, given: parse(item.arguments) }] : [],
    );
    return { reason: status, calls };
  },
  async anthropic(text) {
    const client = new Anthropic({ ...common, fetch: streamOf(text) });
    const { stop_reason: reason, content } = await client.messages
      .stream({ model: 'm', max_tokens: 10, messages })
      .finalMessage();
    const calls = content.flatMap(block =>
      block.type === 'tool_use' ? [{ name: block.name, given: block.input }] : [],
    );
    return { reason: reason ?? undefined, calls };
  },
  async gemini(text) {
    vi.stubGlobal('fetch', streamOf(text));
    const client = new GoogleGenAI({ apiKey: 'k' });
    const came: GenerateContentResponse[] = [];
    const asked = { model: 'm', contents: 'Go' };
    for await (const each of await client.models.generateContentStream(asked)) came.push(each);
    const calls = came.flatMap(({ functionCalls = [] }) =>
      functionCalls.map(({ name = '', args = {} }) => ({ name, given: args as unknown })),
    );
    return { reason: came.at(-1)?.candidates?.[0]?.finishReason, calls };
  },
};

afterEach(() => vi.unstubAllGlobals());

/** What is made of a stream here. */
function madeOf({ dialect }: TurnWire, text: string): Held['calls'] {
  const reader = dialect.createReader();
  try {
    for (const event of new SseParser(2 ** 22).push(text)) reader.read(event);
    const { stop, calls } = reader.end();
    if (stop !== 'calls') return [];
    return calls.map(({ name, arguments: given }) => ({ name, given }));
  } catch (thrown) {
    if (thrown instanceof BrokenOff) return [];
    throw thrown;
  }
}

describe.each(TURN_WIRES)('the official client of $format', compose => {
  const judge = JUDGES[compose.format];
  const calls = [
    { name: 'wipe_all', arguments: {} },
    { name: 'read', arguments: { path: 'ä 😀', deep: { list: [1, { a: null }] } } },
  ];
  const turn = { text: 'Grüße', calls, delayMs: 0 };

  it('[LLM-2] holds the calls that are made, of every reason', async () => {
    for (const [reason, meaning] of compose.reasons) {
      const text = compose.toStream(turn, reason).events.join('');
      const made = madeOf(compose, text);
      expect([reason, made.length]).toEqual([reason, meaning === 'calls' ? 2 : 0]);
      if (meaning !== 'calls') continue;
      const held = await judge(text);
      expect(made).toEqual(held.calls);
    }
  });

  // Between its events: of half an event the clients say that it is no JSON.
  it(`[LLM-2] holds no finished turn for calls where none is made, cut between events (seed ${SEED})`, async () => {
    const random = createRandom();
    const own = [...compose.reasons].flatMap(([reason, what]) =>
      what === 'calls' ? [reason] : [],
    );
    for (let tries = 0; tries < 40; tries += 1) {
      const { events } = compose.toStream(turn, random.pick(own));
      const at = random.chance(0.3) ? random.below(4) : random.below(events.length);
      const cut = events.slice(0, events.length - at).join('');
      const held = await judge(cut).catch(() => undefined);
      const isFinished = held?.reason !== undefined && own.includes(held.reason);
      expect(madeOf(compose, cut)).toEqual(isFinished ? held.calls : []);
    }
  });
});
