/** The event-stream corpus: the parser reads the same events from each stream, however it is split. */
import { expect, it } from 'vitest';
import { SseParser } from '../../../src/http/sse-events.ts';
import { loadCorpus } from '../../fixtures/corpora.ts';
import { createRandom, SEED } from '../seeded.ts';

const { cases, origin } = loadCorpus('sse-vectors');
const random = createRandom();

/** The data of the `message` events of a stream that is split at random. */
function dataOf(bytes: Buffer): string[] {
  const parser = new SseParser(1_000_000);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const events = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random.below(7);
    events.push(...parser.push(decoder.decode(bytes.subarray(at, end), { stream: true })));
    at = end;
  }
  return events.filter(({ event }) => event === 'message').map(({ data }) => data);
}

it.each(cases.filter(({ events, stream_b64: bytes }) => events && bytes))(
  `[UP-1] $name yields its events (${origin}, seed ${SEED})`,
  ({ stream_b64: bytes = '', events = [] }) => {
    const expected = events.filter(({ type }) => type === 'message').map(({ data }) => data);
    for (let round = 0; round < 20; round += 1) {
      expect(dataOf(Buffer.from(bytes, 'base64'))).toEqual(expected);
    }
  },
);
