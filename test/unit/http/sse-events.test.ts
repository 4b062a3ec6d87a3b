/** The parser of event streams, tested against the rules of WHATWG HTML. */
import { describe, expect, it } from 'vitest';
import {
  EventTooLarge,
  readEvents,
  SseParser,
  toSseText,
  type SseEvent,
} from '../../../src/http/sse-events.ts';
import { createRandom, SEED } from '../seeded.ts';

const MAX_CHARS = 10_000;
const message = (data: string): SseEvent => ({ event: 'message', data });

function parse(text: string): SseEvent[] {
  return new SseParser(MAX_CHARS).push(text);
}

async function readAll(chunks: readonly Uint8Array[], maxChars = MAX_CHARS): Promise<SseEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const events: SseEvent[] = [];
  for await (const event of readEvents(body, maxChars)) events.push(event);
  return events;
}

describe('SseParser', () => {
  it('[MCP-4] keeps the order of any number of lines', () => {
    for (const count of [1_023, 1_024, 1_025, 2_048, 3_000]) {
      const lines = Array.from({ length: count }, (_, i) => (i % 7 === 0 ? '' : String(i % 10)));
      const text = lines.map(line => `data: ${line}\n`).join('');
      expect(parse(`${text}\ndata: next\n\n`)).toEqual([
        message(lines.join('\n')),
        message('next'),
      ]);
    }
  });

  it.each<[string, string, SseEvent[]]>([
    ['one line', 'data: a\n\n', [message('a')]],
    ['lines that end in CR', 'data: a\r\rdata: b\r\r', [message('a'), message('b')]],
    ['lines that end in CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', [message('a'), message('b')]],
    ['all three ends mixed', 'data: a\rdata: b\ndata: c\r\n\n', [message('a\nb\nc')]],
    ['one space after the colon taken off, not two', 'data:a\ndata:  b\n\n', [message('a\n b')]],
    ['a tab after the colon kept', 'data:\ta\n\n', [message('\ta')]],
    ['a byte order mark at the start', '\ufeffdata: a\n\n', [message('a')]],
    [
      'a second byte order mark as part of the field',
      '\ufeff\ufeffdata: a\ndata: b\n\n',
      [message('b')],
    ],
    ['a byte order mark inside of data', 'data: \ufeffa\n\n', [message('\ufeffa')]],
    ['comments', ': ping\n:\ndata: a\n: x\n\n', [message('a')]],
    ['a name of the event', 'event: endpoint\ndata: /m\n\n', [{ event: 'endpoint', data: '/m' }]],
    [
      'the name for one event only',
      'event: x\ndata: a\n\ndata: b\n\n',
      [{ event: 'x', data: 'a' }, message('b')],
    ],
    ['the last of two names', 'event: x\nevent: y\ndata: a\n\n', [{ event: 'y', data: 'a' }]],
    ['a name without data', 'event: x\n\ndata: a\n\n', [message('a')]],
    ['an empty name', 'event:\ndata: a\n\n', [message('a')]],
    ['data without a colon', 'data\n\n', [message('')]],
    ['two empty lines of data', 'data\ndata\n\n', [message('\n')]],
    ['id, retry and unknown fields', 'id: 1\nretry: 5\nnonsense: x\ndata: a\n\n', [message('a')]],
    ['a field with a space before its colon', 'data : a\n\n', []],
    ['upper case field names', 'DATA: a\n\n', []],
    ['an event that is not finished', 'data: a\n', []],
    ['nothing but ends of lines', '\n\r\n\r\r\n\n', []],
  ])('[MCP-1] reads %s', (_what, text, events) => {
    expect(parse(text)).toEqual(events);
  });

  it('[MCP-1] emits an event that ends in CR before the next byte comes', () => {
    const parser = new SseParser(MAX_CHARS);
    expect(parser.push('data: a\r\r')).toEqual([message('a')]);
    expect(parser.push('\ndata: b\r')).toEqual([]);
    expect(parser.push('\n\r\n')).toEqual([message('b')]);
  });

  it('[SEC-4] bounds one event, in one line and over many', () => {
    const parser = new SseParser(100);
    expect(() => parser.push(`data: ${'a'.repeat(200)}`)).toThrow(EventTooLarge);
    const lines = new SseParser(100);
    expect(() => {
      for (let i = 0; i < 50; i += 1) lines.push('data: abc\n');
    }).toThrow(EventTooLarge);
    const empty = new SseParser(100);
    expect(() => empty.push('data\n'.repeat(200))).toThrow(EventTooLarge);
  });

  it('[SEC-4] reads a long line in linear time', () => {
    const cpuMsOf = (pieces: number) => {
      const parser = new SseParser(1e8);
      const piece = 'x'.repeat(8_192);
      const before = process.cpuUsage();
      parser.push('data: ');
      for (let i = 0; i < pieces; i += 1) parser.push(piece);
      expect(parser.push('\n\n')[0]?.data).toHaveLength(pieces * piece.length);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    cpuMsOf(64);
    // Quadratic time would be 64 times as long for 8 times the length: several seconds.
    expect(cpuMsOf(2_048)).toBeLessThan(1_000);
  });

  it('[SEC-4] does not bound the stream', () => {
    const parser = new SseParser(100);
    for (let i = 0; i < 1_000; i += 1) expect(parser.push('data: abcdefghij\n\n')).toHaveLength(1);
  });
});

describe('readEvents', () => {
  const text =
    '\ufeff: hi\r\nevent: message\r\ndata: {"a":"\u00e9\ud83d\ude00"}\r\ndata: more\r\n\r\n' +
    'data: second\r\r: c\n\ndata: third\n\n';
  const bytes = new TextEncoder().encode(text);
  const events = [message('{"a":"\u00e9\ud83d\ude00"}\nmore'), message('second'), message('third')];

  it('[MCP-1] reads the same wherever the bytes are split', async () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      const chunks = [bytes.subarray(0, at), bytes.subarray(at)];
      expect([`split at ${at}`, await readAll(chunks)]).toEqual([`split at ${at}`, events]);
    }
  });

  it('[MCP-1] reads the same byte by byte', async () => {
    expect(await readAll(Array.from(bytes, byte => Uint8Array.of(byte)))).toEqual(events);
  });

  it('[SEC-4] throws beyond the bound', async () => {
    await expect(readAll([bytes], 10)).rejects.toThrow(EventTooLarge);
  });

  it('[UP-3] cancels the stream when its reader leaves', async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: controller => controller.enqueue(new TextEncoder().encode('data: a\n\n')),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const event of readEvents(body, MAX_CHARS)) {
      expect(event).toEqual(message('a'));
      break;
    }
    expect(cancelled).toBe(true);
  });
});

describe('toSseText', () => {
  it(`[MCP-7] is read back unchanged (seed ${SEED})`, () => {
    const random = createRandom();
    const parts = ['a', ' ', ':', '\n', '{"x":1}', '\u2028', '\u00e9', 'data: '];
    for (let round = 0; round < 500; round += 1) {
      const data = Array.from({ length: random.below(8) }, () => random.pick(parts)).join('');
      expect(parse(toSseText(data))).toEqual([message(data)]);
    }
  });

  it('[MCP-7] keeps JSON text with raw CR whitespace readable as the same JSON', () => {
    const [event] = parse(toSseText('{\r\n"a":\r1}'));
    expect(JSON.parse(event?.data ?? '')).toEqual({ a: 1 });
  });
});
