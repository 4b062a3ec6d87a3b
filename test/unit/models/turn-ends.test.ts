/**
 * The stop reason of a turn decides about its calls: for every reason that each API documents and some that it does not, streamed and
 * whole, cut at every byte, no call is made unless the turn ended for its calls. The chat loop runs the turns as usual.
 */
import { readFileSync } from 'node:fs';
import { FinishReason } from '@google/genai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FormatError } from '../../../src/models/formats/dialect.ts';
import type { CanonicalCall } from '../../../src/models/formats/canonical-form.ts';
import type { ChatModel } from '../../../src/models/chat-port.ts';
import { toCounted } from '../../../src/models/metered.ts';
import { createHttpChat } from '../../../src/models/http-chat.ts';
import { readTurn } from '../../../src/models/read-turn.ts';
import { runLoop } from '../../../src/agents/chat/loop.ts';
import type { Turn } from '../../fixtures/model-script.ts';
import { WIRES } from '../../fixtures/model-wires.ts';
import { begun, createWorld, itemOf } from '../agents/scripted-chat.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';
import { JUDGES } from './sdk-judge.ts';
import { TURN_WIRES, type TurnWire } from './turn-wires.ts';

const NAMES = ['wipe_all', 'read'];
const ITEMS = NAMES.map(name => itemOf(name));
const encoder = new TextEncoder();
const never = new AbortController().signal;
const DONE = { text: 'done', calls: [], raw: undefined, stop: 'end', tokens: undefined } as const;

/** A conversation in which the model's first answer is this stream. */
async function converse(compose: TurnWire, bytes: Uint8Array) {
  let asked = 0;
  const model: ChatModel = {
    name: 'm',
    dialect: compose.dialect,
    costOf: () => undefined,
    async chat({ onText = () => {} }) {
      if ((asked += 1) > 1) return toCounted(DONE, 1);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(bytes);
          controller.close();
        },
      });
      const attempt = { signal: never, onSign: () => {}, onHandedOn: () => {} };
      return toCounted(await readTurn(body, compose.dialect.createReader(), attempt, onText), 1);
    },
  };
  const world = createWorld({ model, items: ITEMS });
  const state = await runLoop(begun({ format: compose.format }), world.ports, never);
  const made = world.happened.flatMap(({ calls }) => calls ?? []);
  const told = world.told.flatMap(event => (event.type === 'call' ? [event.call] : []));
  return { state, made: made.filter(call => call.arguments !== undefined), told };
}

afterEach(() => vi.unstubAllGlobals());

const plain = (calls: readonly CanonicalCall[]) =>
  calls.map(({ name, arguments: given }) => ({ name, arguments: given }));

interface Given {
  name: string;
  arguments: Record<string, unknown>;
}

function randomTurn(random: Random): Omit<Turn, 'calls'> & { calls: Given[] } {
  const text = random.chance(0.5) ? '' : 'Größe 😀, "I" do it.'.slice(0, random.below(22));
  const calls = Array.from({ length: 1 + random.below(3) }, () => ({
    name: random.pick(NAMES),
    arguments: random.chance(0.4) ? {} : { path: `ä"${random.below(1_000)}`, deep: { n: [1, {}] } },
  }));
  return { text, calls, delayMs: 0 };
}

/** The same turn cut off: its last call has no text of arguments yet, or a part of it. */
function cutTurn(turn: Turn, random: Random): Turn {
  const { name = '' } = turn.calls.at(-1) ?? {};
  const raw = random.chance(0.7) ? '' : '{"path":"a';
  return { ...turn, calls: [...turn.calls.slice(0, -1), { name, raw }] };
}

describe('the reasons', () => {
  const SDK = new URL('../../../node_modules/', import.meta.url);
  const wordsIn = (path: string, type: RegExp): string[] => {
    const [, words = ''] = type.exec(readFileSync(new URL(path, SDK), 'utf8')) ?? [];
    return words.match(/\w+/g) ?? [];
  };
  const [chat, responses, anthropic, gemini] = TURN_WIRES.map(({ reasons }) => [...reasons.keys()]);

  it('[LLM-2] include all that the official clients know', () => {
    const completions = 'openai/resources/chat/completions/completions.d.ts';
    const finish = wordsIn(completions, /finish_reason: ('stop'.*);/);
    expect(finish).toHaveLength(5);
    expect(chat).toEqual(expect.arrayContaining(finish));
    const incomplete = wordsIn(
      'openai/resources/responses/responses.d.ts',
      /interface IncompleteDetails \{[^}]*reason\?: (.*);/,
    );
    expect(incomplete.length).toBeGreaterThan(1);
    expect(responses).toEqual(expect.arrayContaining(incomplete.map(each => `incomplete/${each}`)));
    const stops = wordsIn(
      '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts',
      /type BetaStopReason = (.*);/,
    );
    expect(stops).toHaveLength(8);
    expect(anthropic).toEqual(expect.arrayContaining(stops));
    const told = ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'];
    const ends = Object.values(FinishReason).filter(each => !told.includes(each));
    expect(gemini).toEqual(expect.arrayContaining(ends));
  });
});

describe.each(TURN_WIRES)('$format', compose => {
  const { dialect, reasons } = compose;

  it('[LLM-3] makes the calls of a stream that ended for them, and of no other', async () => {
    const random = createRandom();
    for (const [reason, meaning] of reasons) {
      const turn = randomTurn(random);
      const { events } = compose.toStream(turn, reason);
      const { state, made, told } = await converse(compose, encoder.encode(events.join('')));
      const isMade = meaning === 'calls';
      expect([reason, plain(made)]).toEqual([reason, isMade ? turn.calls : []]);
      expect([reason, state.stop]).toEqual([reason, isMade ? 'answered' : meaning]);
      const seen = state.log.map(({ tool, decision }) => [tool, decision]);
      const decision = isMade ? 'allowed' : 'not_made';
      expect(seen).toEqual(turn.calls.map(({ name }) => [`s.${name}`, decision]));
      expect(told.map(call => call.decision)).toEqual(turn.calls.map(() => decision));
      const shown = turn.calls.map(call => (isMade ? call.arguments : null));
      expect(told.map(call => call.arguments)).toEqual(shown);
    }
  });

  it('[LLM-2] makes the calls of a whole answer that ended for them, and of no other', () => {
    const random = createRandom();
    for (const [reason, meaning] of reasons) {
      const turn = randomTurn(random);
      const body = compose.toWhole(turn, reason);
      const isMade = meaning === 'calls';
      const reply = dialect.fromResponse(body);
      expect([reason, reply.stop]).toEqual([reason, meaning]);
      for (const calls of [reply.calls, dialect.fromCalls(body)]) {
        const ready = calls.filter(call => call.arguments !== undefined);
        expect([reason, plain(ready)]).toEqual([reason, isMade ? turn.calls : []]);
        expect(calls.map(({ name }) => name)).toEqual(turn.calls.map(({ name }) => name));
        const unmade = isMade ? undefined : meaning;
        expect(calls.map(call => call.unmade)).toEqual(turn.calls.map(() => unmade));
      }
    }
  });

  it('[LLM-3] makes no call of a stream that is cut, at any byte', async () => {
    const [own = ''] = [...reasons].find(([, meaning]) => meaning === 'calls') ?? [];
    const calls = [
      { name: 'wipe_all', arguments: {} },
      { name: 'read', arguments: { path: 'ä' } },
    ];
    const { events, last } = compose.toStream({ text: 'Ä', calls, delayMs: 0 }, own);
    const bytes = encoder.encode(events.join(''));
    const wholeAt = encoder.encode(events.slice(0, last + 1).join('')).length;
    const wrong: number[] = [];
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const { state, made } = await converse(compose, bytes.subarray(0, cut));
      const isWhole = cut >= wholeAt;
      const isRight =
        made.length === (isWhole ? 2 : 0) && state.stop === (isWhole ? 'answered' : 'interrupted');
      if (!isRight) wrong.push(cut);
    }
    expect(wrong).toEqual([]);
  });

  it('[LLM-3] reads nothing from a whole response that is cut, at any byte', async () => {
    const [own = ''] = [...reasons].find(([, meaning]) => meaning === 'calls') ?? [];
    const calls = [{ name: 'wipe_all', arguments: {} }];
    const bytes = encoder.encode(
      JSON.stringify(compose.toWhole({ text: 'Ä', calls, delayMs: 0 }, own)),
    );
    const [asked] = WIRES.filter(({ api }) => api.dialect.format === dialect.format).map(
      ({ api, url, model }) => createHttpChat({ api, url, model, findKey: async () => 'k' }),
    );
    const question = { system: '', messages: [], maxTokens: 1 };
    const attempt = { signal: never, onSign: () => {}, onHandedOn: () => {} };
    for (let cut = 0; cut < bytes.length; cut += 1) {
      vi.stubGlobal('fetch', async () => new Response(bytes.subarray(0, cut)));
      await expect(asked?.chat(question, attempt)).rejects.toMatchObject({ problem: 'nonsense' });
    }
  });
});

/** The official clients' reasons for a turn that waits for the results of its calls. */
const ENDS_FOR_CALLS = ['stop', 'tool_calls', 'function_call', 'completed', 'tool_use', 'STOP'];

it(`[LLM-3] 10,000 streams, cut anywhere or filtered, make no call (seed ${SEED})`, async () => {
  const random = createRandom();
  const count = { streams: 0, cut: 0, unfinished: 0, made: 0, judged: 0 };
  const wrong: unknown[] = [];
  for (; count.streams < 10_000; count.streams += 1) {
    const compose = random.pick(TURN_WIRES);
    const [reason, meaning] = random.pick([...compose.reasons]);
    const isCall = meaning === 'calls';
    const turn = randomTurn(random);
    // Only a turn that does not end by itself has half a call; Gemini sends none.
    const isHalf = !isCall && compose.format !== 'gemini';
    const { events, last } = compose.toStream(isHalf ? cutTurn(turn, random) : turn, reason);
    const bytes = encoder.encode(events.join(''));
    const wholeAt = encoder.encode(events.slice(0, last + 1).join('')).length;
    const cut = random.chance(0.3) ? bytes.length : random.below(bytes.length);
    const isWhole = cut >= wholeAt;
    count.cut += isWhole ? 0 : 1;
    count.unfinished += isWhole && !isCall ? 1 : 0;
    const { state, made } = await converse(compose, bytes.subarray(0, cut));
    const expected = isWhole && isCall ? turn.calls : [];
    count.made += made.length;
    const stop = !isWhole ? 'interrupted' : isCall ? 'answered' : meaning;
    const isRight = JSON.stringify(plain(made)) === JSON.stringify(expected) && state.stop === stop;
    if (!isRight) wrong.push([compose.format, reason, cut, state.stop, plain(made)]);
    if (made.length === 0) continue;
    // For every call that is made, the API's own client holds a finished turn too, from the same events; it rejects half an event as
    // invalid JSON.
    const came = new TextDecoder().decode(bytes.subarray(0, cut));
    const held = await JUDGES[compose.format](came.slice(0, came.lastIndexOf('\n\n') + 2));
    const asHeld = held.calls.map(({ name, given }) => ({ name, arguments: given }));
    expect([compose.format, asHeld]).toEqual([compose.format, plain(made)]);
    expect(ENDS_FOR_CALLS).toContain(held.reason);
    count.judged += made.length;
  }
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(count.cut).toBeGreaterThan(5_000);
  expect(count.unfinished).toBeGreaterThan(1_000);
  expect(count.made).toBeGreaterThan(500);
  expect(count.judged).toBe(count.made);
});

describe('a failed response', () => {
  it.each(['failed', 'cancelled', 'queued', 'in_progress', 'a_status_of_tomorrow'])(
    '[LLM-2] %s is refused',
    status => {
      const compose = TURN_WIRES[1];
      const turn = { text: '', calls: [{ name: 'wipe_all', arguments: {} }], delayMs: 0 };
      const body = compose?.toWhole(turn, status);
      expect(() => compose?.dialect.fromResponse(body)).toThrow(FormatError);
      expect(() => compose?.dialect.fromCalls(body)).toThrow(FormatError);
    },
  );
});
