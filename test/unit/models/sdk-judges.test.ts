/**
 * The official clients of OpenAI, Anthropic and Google as judges: they read the same streams, and a turn that they hold as finished with
 * calls is what is made of it here. Where one finds no finished turn, or another stop reason, no call is made.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BrokenOff } from '../../../src/models/formats/dialect.ts';
import { SseParser } from '../../../src/http/sse-events.ts';
import { createRandom, SEED } from '../seeded.ts';
import { JUDGES, type Held } from './sdk-judge.ts';
import { TURN_WIRES, type TurnWire } from './turn-wires.ts';

afterEach(() => vi.unstubAllGlobals());

/** The calls that this code makes from a stream. */
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

  it('[LLM-2] holds the calls that are made, for every reason', async () => {
    for (const [reason, meaning] of compose.reasons) {
      const text = compose.toStream(turn, reason).events.join('');
      const made = madeOf(compose, text);
      expect([reason, made.length]).toEqual([reason, meaning === 'calls' ? 2 : 0]);
      if (meaning !== 'calls') continue;
      const held = await judge(text);
      expect(made).toEqual(held.calls);
    }
  });

  // Between events: on half an event the clients fail with a JSON error.
  it(`[LLM-2] holds no finished turn with calls where none is made, cut between events (seed ${SEED})`, async () => {
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
